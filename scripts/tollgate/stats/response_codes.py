"""Names that JMeter writes as a response code where no answer came.

Its HTTP sampler then writes "Non HTTP response code: " and the name of the class that was thrown
(JMeter 5.6.3, HTTPSamplerBase.errorResult); Taurus and this project know them by the last part of
that name. These are the classes of Java 17 and of the jars of JMeter 5.6.3 that connections, TLS
and HTTP often throw, and the common ones of any code. A criterion on another one takes a wildcard.
"""

from __future__ import annotations

import re

PREFIX = "Non HTTP response code: "

_NAMES = """
    BindException CertPathValidatorException CertificateException CertificateExpiredException
    CircularRedirectException ClientProtocolException ClosedChannelException ConnectException
    ConnectTimeoutException ConnectionClosedException ConnectionPoolTimeoutException EOFException
    Error Exception FileNotFoundException HttpException HttpHostConnectException IOException
    IllegalArgumentException IllegalStateException InterruptedException InterruptedIOException
    MalformedChunkCodingException MalformedURLException NoHttpResponseException
    NoRouteToHostException NullPointerException OutOfMemoryError PortUnreachableException
    ProtocolException RequestAbortedException RuntimeException SSLException SSLHandshakeException
    SSLPeerUnverifiedException SSLProtocolException SocketException SocketTimeoutException
    StackOverflowError TimeoutException TruncatedChunkException URISyntaxException
    UnknownHostException UnresolvedAddressException UnsupportedEncodingException ZipException
"""
NAMES = frozenset(_NAMES.split())


def short_code(code: str) -> str:
    """`Non HTTP response code: java.net.SocketException` is `SocketException`, of an inner class
    the last name. Other codes stay as they are, but for what ends in `Exception`: as in Taurus."""
    is_class = code.startswith(PREFIX) or code.endswith("Exception")
    return class_of(code) if is_class else code


def class_of(name: str) -> str:
    """A class's own name, without package, the class around it, and what JMeter writes before."""
    # What follows a $ is a number where the class has no name.
    return re.split(r"\.|\$(?=\D)", name.removeprefix(PREFIX))[-1]
