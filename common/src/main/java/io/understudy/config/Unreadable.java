package io.understudy.config;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Locale;
import java.util.Map;

/** The reason why a file or a server cannot be read. For many, the JDK has only an exception's type. */
public final class Unreadable {

    private static final Map<Class<?>, String> REASONS = Map.of(
            NoSuchFileException.class, "no such file",
            FileAlreadyExistsException.class, "file exists",
            NotDirectoryException.class, "not a directory",
            AccessDeniedException.class, "permission denied",
            UnresolvedAddressException.class, "unknown host",
            UnknownHostException.class, "unknown host",
            HttpConnectTimeoutException.class, "no connection in time",
            HttpTimeoutException.class, "no response in time");

    private Unreadable() {}

    /** The reason without the file, and without the names of exceptions. */
    public static String why(Throwable failure) {
        if (failure instanceof CharacterCodingException) {
            return "not UTF-8";
        }
        if (failure instanceof ConnectException && failure.getMessage() == null) {
            Throwable root = failure;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            return root instanceof UnresolvedAddressException ? "unknown host" : "connection refused";
        }
        boolean isOfFile = failure instanceof FileSystemException;
        if (failure instanceof FileSystemException file && file.getReason() != null) {
            return file.getReason();
        }
        String known = REASONS.get(failure.getClass());
        if (known != null) {
            return known;
        }
        // The message of a file's failure is its path.
        String message = isOfFile ? null : failure.getMessage();
        return message == null || message.isBlank() ? words(failure.getClass().getSimpleName()) : message;
    }

    /** {@code ClosedChannelException} is "closed channel". */
    private static String words(String type) {
        return type.replaceFirst("(Exception|Error)$", "")
                .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                .toLowerCase(Locale.ROOT);
    }
}
