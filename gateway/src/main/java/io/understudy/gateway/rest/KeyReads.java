package io.understudy.gateway.rest;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.json.JsonBytes;
import io.understudy.gateway.json.JsonForm;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.rest.Logins.Identification;
import io.understudy.gateway.rest.Query.Manner;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads of single keys and of pages. Thread-safe. */
record KeyReads(Reads reads, Identification identification) {

    private static final long STANDARD_PAGE = 100;
    private static final long LARGEST_PAGE = 1_000;

    private static final Set<String> LIST_PARAMETERS = with(Query.OF_READS, "prefix", "limit", "cursor");

    /** Reads a key, or responds with 404. */
    void one(RestExchange exchange, ByteString key) throws ProblemDetails {
        Query query = Query.parse(exchange.request().rawQuery(), Query.OF_READS);
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
            exchange.answer(new EntryJson(answer.result(), entry));
        }
    }

    /** Reads a page. */
    void list(RestExchange exchange) throws ProblemDetails {
        Query query = Query.parse(exchange.request().rawQuery(), LIST_PARAMETERS);
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
                    long cluster = answer.result().header().getClusterId();
                    long pinned = revision > 0 ? revision : answer.revision();
                    Cursor page = cursor.orElse(
                            new Cursor(cluster, pinned, answer.result().count(), prefix, ByteString.EMPTY));
                    if (page.cluster() == cluster) {
                        exchange.answer(new PageJson(answer.result(), page));
                    } else {
                        exchange.refuse(new ProblemDetails(
                                410,
                                Status.Code.OUT_OF_RANGE,
                                "'cursor' belongs to a listing of another cluster; restart without a cursor"));
                    }
                })
                .onFailure(exchange::fail));
    }

    static Set<String> with(Set<String> some, String... more) {
        Set<String> all = new HashSet<>(some);
        all.addAll(Set.of(more));
        return Set.copyOf(all);
    }

    /** The entry of a result, encoded when the client reads. */
    private record EntryJson(RangeResult result, Entry entry) implements AnswerBody {

        @Override
        public Runnable keep(Runnable end) {
            return result.keep(end);
        }

        @Override
        public boolean appendTo(ByteBuf piece, int wanted) {
            JsonBytes out = new JsonBytes(JsonForm.GRPC_GATEWAY_2);
            KeyJson.write(out, entry);
            out.moveTo(piece);
            return false;
        }
    }

    /** A page of a listing, encoded at the client's pace. */
    private static final class PageJson implements AnswerBody {

        private static final byte[] REVISION = JsonBytes.name("revision");
        private static final byte[] COUNT = JsonBytes.name("count");
        private static final byte[] KVS = JsonBytes.name("kvs");
        private static final byte[] CURSOR = JsonBytes.name("cursor");

        private final JsonBytes out = new JsonBytes(JsonForm.GRPC_GATEWAY_2);
        private final RangeResult result;
        private final Cursor page;
        private final Iterator<Entry> entries;
        private boolean begun;
        private @Nullable Entry last;

        /** @param page the cursor at its start */
        PageJson(RangeResult result, Cursor page) {
            this.result = result;
            this.page = page;
            this.entries = result.entries().iterator();
        }

        @Override
        public Runnable keep(Runnable end) {
            return result.keep(end);
        }

        @Override
        public boolean appendTo(ByteBuf piece, int wanted) {
            if (!begun) {
                begun = true;
                out.open('{').member(REVISION).decimal(page.revision());
                out.member(COUNT).decimal(page.count());
                out.member(KVS).open('[');
            }
            while (entries.hasNext() && out.size() < wanted) {
                last = entries.next();
                KeyJson.write(out.separate(), last);
            }
            boolean more = entries.hasNext();
            if (!more) {
                out.close(']');
                if (result.more() && last != null) {
                    out.member(CURSOR)
                            .string(new Cursor(
                                            page.cluster(),
                                            page.revision(),
                                            page.count(),
                                            page.prefix(),
                                            KeyRange.successor(last.key()))
                                    .encode());
                }
                out.close('}');
            }
            out.moveTo(piece);
            return more;
        }
    }

    /**
     * The position of the next page of a listing. It holds cluster and revision, so that all pages are of one state.
     *
     * @param cluster ID of the source
     * @param revision of every page
     * @param count of all keys listed
     * @param prefix that they begin with
     * @param from the next page's first key, or where it would be; begins with {@code prefix}
     */
    record Cursor(long cluster, long revision, long count, ByteString prefix, ByteString from) {

        private static final byte FORMAT = 3;

        /** Encodes it as an opaque text. */
        String encode() {
            ByteString.Output bytes = ByteString.newOutput();
            CodedOutputStream out = CodedOutputStream.newInstance(bytes);
            try {
                out.writeRawByte(FORMAT);
                out.writeFixed64NoTag(cluster);
                out.writeUInt64NoTag(revision);
                out.writeUInt64NoTag(count);
                out.writeBytesNoTag(prefix);
                // Without the prefix, which may be long.
                out.writeBytesNoTag(from.substring(prefix.size()));
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException("encoding failed", e);
            }
            return Base64.getUrlEncoder()
                    .withoutPadding()
                    .encodeToString(bytes.toByteString().toByteArray());
        }

        static Cursor decode(String text) throws ProblemDetails {
            try {
                CodedInputStream in =
                        CodedInputStream.newInstance(Base64.getUrlDecoder().decode(text));
                if (in.readRawByte() == FORMAT) {
                    long cluster = in.readFixed64();
                    long revision = in.readUInt64();
                    long count = in.readUInt64();
                    ByteString prefix = in.readBytes();
                    ByteString from = prefix.concat(in.readBytes());
                    if (in.isAtEnd() && revision > 0) {
                        return new Cursor(cluster, revision, count, prefix, from);
                    }
                }
            } catch (IllegalArgumentException | IOException e) {
                // Rejected below.
            }
            throw ProblemDetails.badRequest("'cursor' is invalid; use the cursor of the previous page");
        }
    }
}
