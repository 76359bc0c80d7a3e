package io.understudy.gateway.trace;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** The headers of a request. */
@FunctionalInterface
public interface Carrier {

    /** The first value. {@code name} is in lower case. */
    @Nullable CharSequence header(AsciiString name);
}
