package io.understudy.gateway.rest;

import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.vocabulary.KeyRange;
import java.util.Set;

/**
 * The commits that a client requests, and their form.
 *
 * @param spec the watch; start 0 is after now
 */
record StreamQuery(WatchSpec spec, StreamForm form) {

    private static final Set<String> PARAMETERS = Set.of("key", "prefix", "revision", "previous", "only");

    /** Sent by a browser that reconnects: the ID of its last event. */
    private static final String LAST_EVENT_ID = "Last-Event-ID";

    static StreamQuery of(RestExchange exchange) throws ProblemDetails {
        Query query = Query.parse(exchange.request().rawQuery(), PARAMETERS);
        String only = query.word("only", "", Set.of("put", "delete"));
        boolean previous =
                query.word("previous", "false", Set.of("true", "false")).equals("true");
        return new StreamQuery(
                new WatchSpec(
                        range(query), start(exchange, query), previous, only.equals("delete"), only.equals("put")),
                StreamForm.of(exchange.headers("accept")));
    }

    private static KeyRange range(Query query) throws ProblemDetails {
        if (query.has("key") == query.has("prefix")) {
            throw ProblemDetails.badRequest("specify either 'key' or 'prefix'");
        }
        if (query.has("prefix")) {
            return KeyRange.prefix(query.bytes("prefix"));
        }
        if (query.bytes("key").isEmpty()) {
            throw ProblemDetails.badRequest("'key' is empty");
        }
        return KeyRange.single(query.bytes("key"));
    }

    private static long start(RestExchange exchange, Query query) throws ProblemDetails {
        String last = exchange.header("last-event-id");
        if (last == null || last.isEmpty()) {
            return query.revision();
        }
        try {
            long delivered = Long.parseLong(last);
            if (delivered >= 0 && delivered < Long.MAX_VALUE) {
                return delivered + 1;
            }
        } catch (NumberFormatException e) {
            // Rejected below.
        }
        throw ProblemDetails.badRequest(LAST_EVENT_ID + " is '" + last + "'; allowed: a revision");
    }
}
