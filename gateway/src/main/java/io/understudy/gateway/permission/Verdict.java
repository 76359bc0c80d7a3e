package io.understudy.gateway.permission;

import io.understudy.gateway.api.ApiException;

/** What the source says to somebody who wants something. */
sealed interface Verdict {

    Verdict GRANTED = new Granted();

    record Granted() implements Verdict {}

    /** It may not; {@code why} is the source's word. */
    record Refused(ApiException why) implements Verdict {}
}
