"""Names that JMeter writes as a response code where no answer came.

Its HTTP sampler then writes "Non HTTP response code: " and the name of the class that was thrown
(JMeter 5.6.3, HTTPSamplerBase.errorResult); Taurus and this project know them by the last part of
that name. Here are all classes that can be thrown of the packages which a request goes through: of
Java 17's own, and of the jars of JMeter 5.6.3.
"""

from __future__ import annotations

import difflib
import re

PREFIX = "Non HTTP response code: "

CLASSES = {
    "java.io": """
        CharConversionException EOFException FileNotFoundException IOError IOException
        InterruptedIOException InvalidClassException InvalidObjectException NotActiveException
        NotSerializableException ObjectStreamException OptionalDataException
        StreamCorruptedException SyncFailedException UTFDataFormatException UncheckedIOException
        UnsupportedEncodingException WriteAbortedException
    """,
    "java.lang": """
        AbstractMethodError ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException
        AssertionError BootstrapMethodError ClassCastException ClassCircularityError
        ClassFormatError ClassNotFoundException CloneNotSupportedException
        EnumConstantNotPresentException Error Exception ExceptionInInitializerError
        IllegalAccessError IllegalAccessException IllegalArgumentException IllegalCallerException
        IllegalMonitorStateException IllegalStateException IllegalThreadStateException
        IncompatibleClassChangeError IndexOutOfBoundsException InstantiationError
        InstantiationException InternalError InterruptedException LayerInstantiationException
        LinkageError NegativeArraySizeException NoClassDefFoundError NoSuchFieldError
        NoSuchFieldException NoSuchMethodError NoSuchMethodException NullPointerException
        NumberFormatException OutOfMemoryError ReflectiveOperationException RuntimeException
        SecurityException StackOverflowError StringIndexOutOfBoundsException ThreadDeath Throwable
        TypeNotPresentException UnknownError UnsatisfiedLinkError UnsupportedClassVersionError
        UnsupportedOperationException VerifyError VirtualMachineError
    """,
    "java.net": """
        BindException ConnectException HttpRetryException MalformedURLException
        NoRouteToHostException PortUnreachableException ProtocolException SocketException
        SocketTimeoutException URISyntaxException UnknownHostException UnknownServiceException
    """,
    "java.net.http": """
        HttpConnectTimeoutException HttpTimeoutException WebSocketHandshakeException
    """,
    "java.nio": """
        BufferOverflowException BufferUnderflowException InvalidMarkException
        ReadOnlyBufferException
    """,
    "java.nio.channels": """
        AcceptPendingException AlreadyBoundException AlreadyConnectedException
        AsynchronousCloseException CancelledKeyException ClosedByInterruptException
        ClosedChannelException ClosedSelectorException ConnectionPendingException
        FileLockInterruptionException IllegalBlockingModeException IllegalChannelGroupException
        IllegalSelectorException InterruptedByTimeoutException NoConnectionPendingException
        NonReadableChannelException NonWritableChannelException NotYetBoundException
        NotYetConnectedException OverlappingFileLockException ReadPendingException
        ShutdownChannelGroupException UnresolvedAddressException UnsupportedAddressTypeException
        WritePendingException
    """,
    "java.nio.charset": """
        CharacterCodingException CoderMalfunctionError IllegalCharsetNameException
        MalformedInputException UnmappableCharacterException UnsupportedCharsetException
    """,
    "java.nio.file": """
        AccessDeniedException AtomicMoveNotSupportedException ClosedDirectoryStreamException
        ClosedFileSystemException ClosedWatchServiceException DirectoryIteratorException
        DirectoryNotEmptyException FileAlreadyExistsException FileSystemAlreadyExistsException
        FileSystemException FileSystemLoopException FileSystemNotFoundException
        InvalidPathException NoSuchFileException NotDirectoryException NotLinkException
        ProviderMismatchException ProviderNotFoundException ReadOnlyFileSystemException
    """,
    "java.security": """
        AccessControlException DigestException GeneralSecurityException
        InvalidAlgorithmParameterException InvalidKeyException InvalidParameterException
        KeyException KeyManagementException KeyStoreException NoSuchAlgorithmException
        NoSuchProviderException PrivilegedActionException ProviderException SignatureException
        UnrecoverableEntryException UnrecoverableKeyException
    """,
    "java.security.cert": """
        CRLException CertPathBuilderException CertPathValidatorException CertStoreException
        CertificateEncodingException CertificateException CertificateExpiredException
        CertificateNotYetValidException CertificateParsingException CertificateRevokedException
    """,
    "java.sql": """
        BatchUpdateException DataTruncation SQLClientInfoException SQLDataException SQLException
        SQLFeatureNotSupportedException SQLIntegrityConstraintViolationException
        SQLInvalidAuthorizationSpecException SQLNonTransientConnectionException
        SQLNonTransientException SQLRecoverableException SQLSyntaxErrorException
        SQLTimeoutException SQLTransactionRollbackException SQLTransientConnectionException
        SQLTransientException SQLWarning
    """,
    "java.util": """
        ConcurrentModificationException DuplicateFormatFlagsException EmptyStackException
        FormatFlagsConversionMismatchException FormatterClosedException
        IllegalFormatArgumentIndexException IllegalFormatCodePointException
        IllegalFormatConversionException IllegalFormatException IllegalFormatFlagsException
        IllegalFormatPrecisionException IllegalFormatWidthException IllformedLocaleException
        InputMismatchException InvalidPropertiesFormatException MissingFormatArgumentException
        MissingFormatWidthException MissingResourceException NoSuchElementException
        ServiceConfigurationError TooManyListenersException UnknownFormatConversionException
        UnknownFormatFlagsException
    """,
    "java.util.concurrent": """
        BrokenBarrierException CancellationException CompletionException ExecutionException
        RejectedExecutionException TimeoutException
    """,
    "java.util.zip": """
        DataFormatException ZipError ZipException
    """,
    "javax.crypto": """
        AEADBadTagException BadPaddingException DecapsulateException ExemptionMechanismException
        IllegalBlockSizeException NoSuchPaddingException ShortBufferException
    """,
    "javax.naming": """
        AuthenticationException AuthenticationNotSupportedException CannotProceedException
        CommunicationException ConfigurationException ContextNotEmptyException
        InsufficientResourcesException InterruptedNamingException InvalidNameException
        LimitExceededException LinkException LinkLoopException MalformedLinkException
        NameAlreadyBoundException NameNotFoundException NamingException NamingSecurityException
        NoInitialContextException NoPermissionException NotContextException
        OperationNotSupportedException PartialResultException ReferralException
        ServiceUnavailableException SizeLimitExceededException TimeLimitExceededException
    """,
    "javax.net.ssl": """
        SSLException SSLHandshakeException SSLKeyException SSLPeerUnverifiedException
        SSLProtocolException
    """,
    "javax.script": """
        ScriptException
    """,
    "javax.security.auth.login": """
        AccountException AccountExpiredException AccountLockedException AccountNotFoundException
        CredentialException CredentialExpiredException CredentialNotFoundException
        FailedLoginException LoginException
    """,
    "javax.security.sasl": """
        AuthenticationException SaslException
    """,
    "org.apache.http": """
        ConnectionClosedException ContentTooLongException HttpException
        MalformedChunkCodingException MessageConstraintException MethodNotSupportedException
        NoHttpResponseException ParseException ProtocolException TruncatedChunkException
        UnsupportedHttpVersionException
    """,
    "org.apache.http.auth": """
        AuthenticationException InvalidCredentialsException MalformedChallengeException
    """,
    "org.apache.http.client": """
        CircularRedirectException ClientProtocolException HttpResponseException
        NonRepeatableRequestException RedirectException
    """,
    "org.apache.http.conn": """
        ConnectTimeoutException ConnectionPoolTimeoutException HttpHostConnectException
        UnsupportedSchemeException
    """,
    "org.apache.http.conn.ssl": """
        SSLInitializationException
    """,
    "org.apache.http.cookie": """
        CookieRestrictionViolationException MalformedCookieException
    """,
    "org.apache.http.impl.auth": """
        NTLMEngineException UnsupportedDigestAlgorithmException
    """,
    "org.apache.http.impl.client": """
        TunnelRefusedException
    """,
    "org.apache.http.impl.conn": """
        ConnectionShutdownException
    """,
    "org.apache.http.impl.execchain": """
        RequestAbortedException TunnelRefusedException
    """,
    "org.apache.http.ssl": """
        SSLInitializationException
    """,
    "org.apache.jmeter.protocol.http.parser": """
        HTMLParseException LinkExtractorParseException
    """,
    "org.ietf.jgss": """
        GSSException
    """,
}
NAMES = frozenset(name for names in CLASSES.values() for name in names.split())


def short_code(code: str) -> str:
    """`Non HTTP response code: java.net.SocketException` is `SocketException`, of an inner class
    the last name. Other codes stay as they are, but for what ends in `Exception`: as in Taurus."""
    is_class = code.startswith(PREFIX) or code.endswith("Exception")
    return class_of(code) if is_class else code


def class_of(name: str) -> str:
    """A class's own name, without package, the class around it, and what JMeter writes before."""
    # What follows a $ is a number where the class has no name.
    return re.split(r"\.|\$(?=\D)", name.removeprefix(PREFIX))[-1]


def nearest(name: str) -> str | None:
    """The known name that is most like this one, None if none is. That most of them end alike says
    nothing, and neither does capital or small."""
    by_stem = {_stem(known): known for known in sorted(NAMES)}
    near = difflib.get_close_matches(_stem(name), by_stem, 1, 0.75) if name else ()
    return by_stem[near[0]] if near else None


def _stem(name: str) -> str:
    return re.sub(r"(ex[cept]*i?on|error)s?$", "", name.lower())
