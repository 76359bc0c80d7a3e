package io.understudy.gateway.server;

import io.understudy.gateway.trace.Carrier;

/** The head of a request, over HTTP/1.1 or HTTP/2. */
interface RequestHead extends Carrier {

    /** Such as {@code GET}. */
    CharSequence method();

    /** With the query, as sent. */
    CharSequence target();
}
