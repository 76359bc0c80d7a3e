package io.understudy.gateway.permission;

import io.understudy.gateway.api.ApiException;

/** The source's decision on a permission. */
sealed interface Verdict {

    Verdict GRANTED = new Granted();

    record Granted() implements Verdict {}

    /** Denied; {@code why} is the source's error. */
    record Refused(ApiException why) implements Verdict {}
}
