package io.understudy.gateway.server;

import io.understudy.gateway.trace.Carrier;

/** The head of a request, over HTTP/1.1 or HTTP/2. */
interface RequestHead extends Carrier {

    /** The method, such as {@code GET}. */
    CharSequence method();

    /** The path and the query, as sent. */
    CharSequence target();
}
