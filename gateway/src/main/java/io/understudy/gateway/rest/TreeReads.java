package io.understudy.gateway.rest;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.json.JsonBytes;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.rest.Logins.Identification;
import io.understudy.gateway.rest.Query.Manner;
import io.understudy.vocabulary.KeyRange;
import io.vertx.core.Future;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads one level of the keys as a tree: keys, and branches, which end with the next slash. Thread-safe. */
record TreeReads(Reads reads, Identification identification) {

    private static final byte[] REVISION = JsonBytes.name("revision");
    private static final byte[] COUNT = JsonBytes.name("count");
    private static final byte[] ENTRIES = JsonBytes.name("entries");
    private static final byte[] KEYS = JsonBytes.name("keys");
    private static final byte SLASH = '/';

    private static final long STANDARD_LEVEL = 100;
    private static final long LARGEST_LEVEL = 1_000;

    private static final Set<String> PARAMETERS = KeyReads.with(Query.OF_READS, "prefix", "limit");

    void list(RestExchange exchange) throws ProblemDetails {
        Query query = Query.parse(exchange.request().rawQuery(), PARAMETERS);
        long limit = query.number("limit", STANDARD_LEVEL, 1, LARGEST_LEVEL);
        Manner manner = query.manner();
        ByteString prefix = query.bytes("prefix");
        long revision = query.revision();
        identification.then(
                exchange, principal -> new Level(exchange, principal, prefix, manner, revision, limit).read());
    }

    /** One response: reads the first key, skips its branch, and so on. Range counts differ by the keys of the branch. */
    private final class Level {
        private final RestExchange exchange;
        private final Principal principal;
        private final ByteString prefix;
        private final KeyRange range;
        private final JsonBytes out = new JsonBytes(JsonForm.GRPC_GATEWAY_2);
        private Manner manner;
        private long revision;
        private long left;
        private ByteString from;
        /** Waits for the count of the keys behind it. */
        private @Nullable ByteString branch;

        private long countAtBranch;
        private boolean begun;
        /** Releases the last read's result. */
        private Runnable release = () -> {};

        Level(RestExchange exchange, Principal principal, ByteString prefix, Manner manner, long revision, long limit) {
            this.exchange = exchange;
            this.principal = principal;
            this.prefix = prefix;
            this.range = KeyRange.prefix(prefix);
            this.manner = manner;
            this.revision = revision;
            this.left = limit;
            this.from = range.etcdKey();
            exchange.whenGone(() -> release.run());
        }

        /** A loop where answers are there at once, so that the stack does not grow. */
        void read() {
            while (true) {
                Future<Answer<RangeResult>> answer = reads.range(
                        exchange.caller(principal, manner.freshness(), task -> release = task),
                        RangeRequest.newBuilder()
                                .setKey(from)
                                .setRangeEnd(range.etcdRangeEnd())
                                .setLimit(1)
                                .setKeysOnly(true)
                                .setRevision(revision)
                                .setSerializable(manner.serializable())
                                .build());
                if (!answer.isComplete()) {
                    answer.onComplete(read -> {
                        if (take(answer)) {
                            read();
                        }
                    });
                    return;
                }
                if (!take(answer)) {
                    return;
                }
            }
        }

        /** Returns whether more is to be read. */
        private boolean take(Future<Answer<RangeResult>> read) {
            Runnable releases = release;
            release = () -> {};
            // The next one may wait for the memory.
            releases.run();
            if (read.failed()) {
                exchange.fail(read.cause());
                return false;
            }
            if (exchange.over()) {
                return false;
            }
            RangeResult result = read.result().result();
            if (!begun) {
                begun = true;
                exchange.setHeaders(read.result());
                revision = revision > 0 ? revision : read.result().revision();
                // All of it is of one state, which was served once.
                manner = new Manner(true, new Freshness(null, revision));
                out.open('{').member(REVISION).decimal(revision);
                out.member(COUNT).decimal(result.count());
                out.member(ENTRIES).open('[');
            }
            if (branch != null) {
                KeyJson.key(out.separate().open('{'), branch);
                out.member(KEYS).decimal(countAtBranch - result.count()).close('}');
                branch = null;
            }
            Iterator<Entry> entries = result.entries().iterator();
            if (left == 0 || !entries.hasNext()) {
                out.close(']').close('}');
                exchange.answer(exchange.request().held(out.toByteArray()));
                return false;
            }
            left--;
            skip(entries.next(), result.count());
            return true;
        }

        private void skip(Entry entry, long count) {
            int slash = indexOfSlash(entry.key(), prefix.size());
            if (slash < 0) {
                KeyJson.key(out.separate().open('{'), entry.key());
                out.close('}');
                from = KeyRange.successor(entry.key());
            } else {
                branch = entry.key().substring(0, slash + 1);
                countAtBranch = count;
                // Ends with a slash, and thus has a next prefix.
                from = KeyRange.prefix(branch).etcdRangeEnd();
            }
        }
    }

    private static int indexOfSlash(ByteString key, int from) {
        for (int i = from; i < key.size(); i++) {
            if (key.byteAt(i) == SLASH) {
                return i;
            }
        }
        return -1;
    }
}
