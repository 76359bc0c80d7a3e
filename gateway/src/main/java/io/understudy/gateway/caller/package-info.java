/**
 * Who asks, on which connection, until when, and how fresh the answer has to be: what comes with a request whatever
 * protocol carried it.
 */
@NullMarked
package io.understudy.gateway.caller;

import org.jspecify.annotations.NullMarked;
