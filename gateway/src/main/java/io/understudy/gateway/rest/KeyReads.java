package io.understudy.gateway.rest;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.caller.Freshness;
import io.understudy.gateway.json.JsonBytes;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.rest.Query.Manner;
import io.understudy.vocabulary.KeyRange;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Reads of single keys and of pages. Thread-safe. */
final class KeyReads {

    private static final long STANDARD_PAGE = 100;
    private static final long LARGEST_PAGE = 1_000;

    private static final Set<String> LIST_PARAMETERS = with(Query.OF_READS, "prefix", "limit", "cursor");

    private final Reads reads;
    private final Identification identification;

    KeyReads(Reads reads, Identification identification) {
        this.reads = reads;
        this.identification = identification;
    }

    /** Reads a key, or responds with 404. */
    void one(RestExchange exchange, ByteString key) throws ProblemDetails {
        Query query = Query.parse(exchange.query(), Query.OF_READS);
        Manner manner = query.manner();
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(key)
                .setRevision(query.revision())
                .setSerializable(manner.serializable())
                .build();
        identification.then(exchange, principal -> reads.range(exchange.caller(principal, manner.freshness()), request)
                .onSuccess(answer -> found(exchange, key, answer))
                .onFailure(exchange::fail));
    }

    private static void found(RestExchange exchange, ByteString key, Answer<RangeResult> answer) {
        exchange.setHeaders(answer);
        if (answer.result().entries().size() == 0) {
            exchange.refuse(ProblemDetails.notFound("key '" + key.toStringUtf8() + "' not found at this revision"));
            return;
        }
        Entry entry = answer.result().entries().iterator().next();
        // Each change of a key has a revision of its own in a cluster, even to the same value.
        String cluster = Long.toHexString(answer.result().header().getClusterId());
        if (exchange.isKnown("\"" + cluster + "-" + entry.modRevision() + "\"")) {
            exchange.notModified();
        } else {
            JsonBytes out = new JsonBytes(JsonForm.GRPC_GATEWAY_2);
            KeyJson.write(out, entry);
            exchange.answer(AnswerBody.of(out.toByteArray()));
        }
    }

    /** Reads a page. */
    void list(RestExchange exchange) throws ProblemDetails {
        Query query = Query.parse(exchange.query(), LIST_PARAMETERS);
        long limit = query.number("limit", STANDARD_PAGE, 1, LARGEST_PAGE);
        Optional<Cursor> cursor = query.has("cursor")
                ? Optional.of(Cursor.decode(query.bytes("cursor").toStringUtf8()))
                : Optional.empty();
        Manner manner = query.manner();
        if (cursor.isPresent()) {
            if (query.has("prefix")
                    && !query.bytes("prefix").equals(cursor.get().prefix())) {
                throw ProblemDetails.badRequest("'cursor' belongs to a listing with another prefix");
            }
            if (Query.OF_READS.stream().anyMatch(query::has)) {
                throw ProblemDetails.badRequest("'cursor' implies the revision of the first page; remove "
                        + String.join(", ", Query.OF_READS.stream().sorted().toList()));
            }
            // The revision was served once, so it is available, or soon will be.
            manner = new Manner(true, new Freshness(null, cursor.get().revision()));
        }
        ByteString prefix = cursor.map(Cursor::prefix).orElse(query.bytes("prefix"));
        KeyRange range = KeyRange.prefix(prefix);
        long revision = cursor.isPresent() ? cursor.get().revision() : query.revision();
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(cursor.map(Cursor::from).orElse(range.etcdKey()))
                .setRangeEnd(range.etcdRangeEnd())
                .setLimit(limit)
                .setRevision(revision)
                .setSerializable(manner.serializable())
                .build();
        Freshness freshness = manner.freshness();
        identification.then(exchange, principal -> reads.range(exchange.caller(principal, freshness), request)
                .onSuccess(answer -> {
                    exchange.setHeaders(answer);
                    long pinned = revision > 0 ? revision : answer.revision();
                    exchange.answer(new PageJson(
                            answer.result(),
                            cursor.orElse(new Cursor(pinned, answer.result().count(), prefix, ByteString.EMPTY))));
                })
                .onFailure(exchange::fail));
    }

    private static Set<String> with(Set<String> some, String... more) {
        Set<String> all = new HashSet<>(some);
        all.addAll(Set.of(more));
        return Set.copyOf(all);
    }
}
