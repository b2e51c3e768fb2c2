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

_NAMES = """
    AEADBadTagException AbstractMethodError AcceptPendingException AccessControlException
    AccessDeniedException AccountException AccountExpiredException AccountLockedException
    AccountNotFoundException AlreadyBoundException AlreadyConnectedException ArithmeticException
    ArrayIndexOutOfBoundsException ArrayStoreException AssertionError AsynchronousCloseException
    AtomicMoveNotSupportedException AuthenticationException AuthenticationNotSupportedException
    BadPaddingException BatchUpdateException BindException BootstrapMethodError
    BrokenBarrierException BufferOverflowException BufferUnderflowException CRLException
    CancellationException CancelledKeyException CannotProceedException CertPathBuilderException
    CertPathValidatorException CertStoreException CertificateEncodingException CertificateException
    CertificateExpiredException CertificateNotYetValidException CertificateParsingException
    CertificateRevokedException CharConversionException CharacterCodingException
    CircularRedirectException ClassCastException ClassCircularityError ClassFormatError
    ClassNotFoundException ClientProtocolException CloneNotSupportedException
    ClosedByInterruptException ClosedChannelException ClosedDirectoryStreamException
    ClosedFileSystemException ClosedSelectorException ClosedWatchServiceException
    CoderMalfunctionError CommunicationException CompletionException ConcurrentModificationException
    ConfigurationException ConnectException ConnectTimeoutException ConnectionClosedException
    ConnectionPendingException ConnectionPoolTimeoutException ConnectionShutdownException
    ContentTooLongException ContextNotEmptyException CookieRestrictionViolationException
    CredentialException CredentialExpiredException CredentialNotFoundException DataFormatException
    DataTruncation DecapsulateException DigestException DirectoryIteratorException
    DirectoryNotEmptyException DuplicateFormatFlagsException EOFException EmptyStackException
    EnumConstantNotPresentException Error Exception ExceptionInInitializerError ExecutionException
    ExemptionMechanismException FailedLoginException FileAlreadyExistsException
    FileLockInterruptionException FileNotFoundException FileSystemAlreadyExistsException
    FileSystemException FileSystemLoopException FileSystemNotFoundException
    FormatFlagsConversionMismatchException FormatterClosedException GSSException
    GeneralSecurityException HTMLParseException HttpConnectTimeoutException HttpException
    HttpHostConnectException HttpResponseException HttpRetryException HttpTimeoutException IOError
    IOException IllegalAccessError IllegalAccessException IllegalArgumentException
    IllegalBlockSizeException IllegalBlockingModeException IllegalCallerException
    IllegalChannelGroupException IllegalCharsetNameException IllegalFormatArgumentIndexException
    IllegalFormatCodePointException IllegalFormatConversionException IllegalFormatException
    IllegalFormatFlagsException IllegalFormatPrecisionException IllegalFormatWidthException
    IllegalMonitorStateException IllegalSelectorException IllegalStateException
    IllegalThreadStateException IllformedLocaleException IncompatibleClassChangeError
    IndexOutOfBoundsException InputMismatchException InstantiationError InstantiationException
    InsufficientResourcesException InternalError InterruptedByTimeoutException InterruptedException
    InterruptedIOException InterruptedNamingException InvalidAlgorithmParameterException
    InvalidClassException InvalidCredentialsException InvalidKeyException InvalidMarkException
    InvalidNameException InvalidObjectException InvalidParameterException InvalidPathException
    InvalidPropertiesFormatException KeyException KeyManagementException KeyStoreException
    LayerInstantiationException LimitExceededException LinkException LinkExtractorParseException
    LinkLoopException LinkageError LoginException MalformedChallengeException
    MalformedChunkCodingException MalformedCookieException MalformedInputException
    MalformedLinkException MalformedURLException MessageConstraintException
    MethodNotSupportedException MissingFormatArgumentException MissingFormatWidthException
    MissingResourceException NTLMEngineException NameAlreadyBoundException NameNotFoundException
    NamingException NamingSecurityException NegativeArraySizeException NoClassDefFoundError
    NoConnectionPendingException NoHttpResponseException NoInitialContextException
    NoPermissionException NoRouteToHostException NoSuchAlgorithmException NoSuchElementException
    NoSuchFieldError NoSuchFieldException NoSuchFileException NoSuchMethodError
    NoSuchMethodException NoSuchPaddingException NoSuchProviderException NonReadableChannelException
    NonRepeatableRequestException NonWritableChannelException NotActiveException NotContextException
    NotDirectoryException NotLinkException NotSerializableException NotYetBoundException
    NotYetConnectedException NullPointerException NumberFormatException ObjectStreamException
    OperationNotSupportedException OptionalDataException OutOfMemoryError
    OverlappingFileLockException ParseException PartialResultException PortUnreachableException
    PrivilegedActionException ProtocolException ProviderException ProviderMismatchException
    ProviderNotFoundException ReadOnlyBufferException ReadOnlyFileSystemException
    ReadPendingException RedirectException ReferralException ReflectiveOperationException
    RejectedExecutionException RequestAbortedException RuntimeException SQLClientInfoException
    SQLDataException SQLException SQLFeatureNotSupportedException
    SQLIntegrityConstraintViolationException SQLInvalidAuthorizationSpecException
    SQLNonTransientConnectionException SQLNonTransientException SQLRecoverableException
    SQLSyntaxErrorException SQLTimeoutException SQLTransactionRollbackException
    SQLTransientConnectionException SQLTransientException SQLWarning SSLException
    SSLHandshakeException SSLInitializationException SSLKeyException SSLPeerUnverifiedException
    SSLProtocolException SaslException ScriptException SecurityException ServiceConfigurationError
    ServiceUnavailableException ShortBufferException ShutdownChannelGroupException
    SignatureException SizeLimitExceededException SocketException SocketTimeoutException
    StackOverflowError StreamCorruptedException StringIndexOutOfBoundsException SyncFailedException
    ThreadDeath Throwable TimeLimitExceededException TimeoutException TooManyListenersException
    TruncatedChunkException TunnelRefusedException TypeNotPresentException URISyntaxException
    UTFDataFormatException UncheckedIOException UnknownError UnknownFormatConversionException
    UnknownFormatFlagsException UnknownHostException UnknownServiceException
    UnmappableCharacterException UnrecoverableEntryException UnrecoverableKeyException
    UnresolvedAddressException UnsatisfiedLinkError UnsupportedAddressTypeException
    UnsupportedCharsetException UnsupportedClassVersionError UnsupportedDigestAlgorithmException
    UnsupportedEncodingException UnsupportedHttpVersionException UnsupportedOperationException
    UnsupportedSchemeException VerifyError VirtualMachineError WebSocketHandshakeException
    WriteAbortedException WritePendingException ZipError ZipException
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


def nearest(name: str) -> str | None:
    """The known name that is most like this one, None if none is. That most of them end alike says
    nothing, and neither does capital or small."""
    by_stem = {_stem(known): known for known in sorted(NAMES)}
    near = difflib.get_close_matches(_stem(name), by_stem, 1, 0.75) if name else ()
    return by_stem[near[0]] if near else None


def _stem(name: str) -> str:
    return re.sub(r"(ex[cept]*i?on|error)s?$", "", name.lower())
