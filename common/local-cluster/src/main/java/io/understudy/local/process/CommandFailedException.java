package io.understudy.local.process;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A program failed. The message names it with its arguments, and says why in its own words. */
public final class CommandFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    CommandFailedException(List<String> line, String why, @Nullable Throwable cause) {
        super("'" + String.join(" ", line) + "' " + why, cause);
    }
}
