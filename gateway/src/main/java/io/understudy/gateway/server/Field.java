package io.understudy.gateway.server;

import io.netty.util.AsciiString;

/**
 * One line of an answer's header.
 *
 * @param name in lower case
 */
public record Field(AsciiString name, CharSequence value) {

    public Field(String name, String value) {
        this(AsciiString.cached(name), value);
    }
}
