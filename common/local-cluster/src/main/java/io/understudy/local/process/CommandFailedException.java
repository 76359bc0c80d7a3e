package io.understudy.local.process;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A program failed. The message has its name, its arguments and the reason in its own words. */
public final class CommandFailedException extends RuntimeException {

    CommandFailedException(List<String> line, String why, @Nullable Throwable cause) {
        super("'" + String.join(" ", line) + "' " + why, cause);
    }
}
