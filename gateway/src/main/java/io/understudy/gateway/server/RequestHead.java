package io.understudy.gateway.server;

import io.understudy.gateway.trace.Carrier;

/** What a request begins with, in either version of HTTP. */
interface RequestHead extends Carrier {

    /** Such as {@code GET}. */
    CharSequence method();

    /** With the query, as sent. */
    CharSequence target();
}
