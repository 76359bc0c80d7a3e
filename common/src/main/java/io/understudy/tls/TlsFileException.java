package io.understudy.tls;

import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A file with certificates or a key can't be used. The message has its name and the reason. */
public final class TlsFileException extends RuntimeException {

    private final boolean configured;

    TlsFileException(Path file, String message, Throwable cause) {
        super(file + ": " + message, cause);
        this.configured = false;
    }

    TlsFileException(Path file, String message) {
        super(file + ": " + message);
        this.configured = false;
    }

    private TlsFileException(String place, TlsFileException cause) {
        super(place + ": " + cause.getMessage(), cause);
        this.configured = true;
    }

    /**
     * Creates an object from files that a configuration names.
     *
     * @param place the settings' group, such as {@code source.tls}
     * @throws TlsFileException the same, with the place
     */
    public static <T extends @Nullable Object> T at(String place, Supplier<T> maker) {
        try {
            return maker.get();
        } catch (TlsFileException e) {
            throw new TlsFileException(place, e);
        }
    }

    /** Whether the message begins with the settings that name the file. */
    public boolean isConfigured() {
        return configured;
    }
}
