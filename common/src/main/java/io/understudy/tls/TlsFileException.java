package io.understudy.tls;

import java.nio.file.Path;

/** A file with certificates or a key can't be used; the message names it and says why. */
public final class TlsFileException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Path file;

    TlsFileException(Path file, String message, Throwable cause) {
        super(file + ": " + message, cause);
        this.file = file;
    }

    TlsFileException(Path file, String message) {
        super(file + ": " + message);
        this.file = file;
    }

    public Path file() {
        return file;
    }
}
