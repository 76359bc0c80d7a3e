package io.understudy.gateway.server;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** What a request begins with, in either version of HTTP. */
interface RequestHead {

    /** Such as {@code GET}. */
    CharSequence method();

    /** With the query, as sent. */
    CharSequence target();

    /** The first value. {@code name} is in lower case. */
    @Nullable CharSequence header(AsciiString name);
}
