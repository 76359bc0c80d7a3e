package io.understudy.gateway.json;

import io.etcd.jetcd.api.ResponseHeader;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.Entry.EntryFields;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** Results of reads as JSON, transcoded from the entries' wire form as the client reads. */
final class ResultJson implements AnswerBody {

    private static final byte[] HEADER = JsonBytes.name("header");
    private static final byte[] CLUSTER_ID = JsonBytes.name("cluster_id");
    private static final byte[] MEMBER_ID = JsonBytes.name("member_id");
    private static final byte[] REVISION = JsonBytes.name("revision");
    private static final byte[] RAFT_TERM = JsonBytes.name("raft_term");
    private static final byte[] KVS = JsonBytes.name("kvs");
    private static final byte[] MORE_TRUE = JsonBytes.ascii("\"more\":true");
    private static final byte[] COUNT = JsonBytes.name("count");
    private static final byte[] SUCCEEDED_TRUE = JsonBytes.ascii("\"succeeded\":true");
    private static final byte[] RESPONSES = JsonBytes.name("responses");
    private static final byte[] RESPONSE_RANGE = JsonBytes.name("response_range");
    private static final byte[] RESPONSE_TXN = JsonBytes.name("response_txn");

    private final JsonBytes json;
    private final OpResult result;
    private final Part whole;

    ResultJson(OpResult result, JsonForm form) {
        this.json = new JsonBytes(form);
        this.result = result;
        this.whole = part(result);
    }

    @Override
    public Runnable keep(Runnable end) {
        return result.keep(end);
    }

    @Override
    public boolean appendTo(ByteBuf out, int wanted) {
        boolean more = whole.write(json, wanted);
        json.moveTo(out);
        return more;
    }

    private static Part part(OpResult result) {
        if (result instanceof RangeResult range) {
            return new RangePart(range);
        }
        return new TxnPart((TxnResult) result);
    }

    private static void header(JsonBytes out, ResponseHeader header) {
        out.member(HEADER).open('{');
        unsigned(out, CLUSTER_ID, header.getClusterId());
        unsigned(out, MEMBER_ID, header.getMemberId());
        if (header.getRevision() != 0) {
            out.member(REVISION).quotedLong(header.getRevision());
        }
        unsigned(out, RAFT_TERM, header.getRaftTerm());
        out.close('}');
    }

    private static void unsigned(JsonBytes out, byte[] name, long value) {
        if (value > 0) {
            out.member(name).quotedLong(value);
        } else if (value < 0) {
            out.member(name).string(Long.toUnsignedString(value));
        }
    }

    /** A result that is written in pieces. */
    private interface Part {
        /** Writes until the end, or until {@code wanted} bytes are there; returns whether something is left. */
        boolean write(JsonBytes out, int wanted);
    }

    private static final class RangePart implements Part {
        private final RangeResult result;
        private @Nullable Iterator<Entry> entries;

        RangePart(RangeResult result) {
            this.result = result;
        }

        @Override
        public boolean write(JsonBytes out, int wanted) {
            if (entries == null) {
                out.open('{');
                header(out, result.header());
                entries = result.entries().iterator();
                if (entries.hasNext()) {
                    out.member(KVS).open('[');
                }
            }
            while (entries.hasNext()) {
                if (out.size() >= wanted) {
                    return true;
                }
                EntryJson.write(out.separate(), entries.next(), result.fields());
            }
            if (result.entries().size() > 0) {
                out.close(']');
            }
            if (result.more()) {
                out.member(MORE_TRUE);
            }
            if (result.count() != 0) {
                out.member(COUNT).quotedLong(result.count());
            }
            out.close('}');
            return false;
        }
    }

    private static final class TxnPart implements Part {
        private final TxnResult result;
        private @Nullable Iterator<OpResult> results;
        private @Nullable Part current;

        TxnPart(TxnResult result) {
            this.result = result;
        }

        @Override
        public boolean write(JsonBytes out, int wanted) {
            if (results == null) {
                out.open('{');
                header(out, result.header());
                if (result.succeeded()) {
                    out.member(SUCCEEDED_TRUE);
                }
                if (!result.results().isEmpty()) {
                    out.member(RESPONSES).open('[');
                }
                results = result.results().iterator();
            }
            while (current != null || results.hasNext()) {
                if (current == null) {
                    OpResult next = results.next();
                    out.separate().open('{').member(next instanceof RangeResult ? RESPONSE_RANGE : RESPONSE_TXN);
                    current = part(next);
                }
                if (current.write(out, wanted)) {
                    return true;
                }
                out.close('}');
                current = null;
            }
            if (!result.results().isEmpty()) {
                out.close(']');
            }
            out.close('}');
            return false;
        }
    }

    /** Transcodes a key-value pair from its wire form, without decoding it to objects. */
    private static final class EntryJson {

        private static final int LENGTH_DELIMITED = 2;
        private static final int VALUE = 5;
        /** The last field number. */
        private static final int LEASE = 6;

        /** Names by field number. */
        private static final byte[][] NAMES = {
            {},
            JsonBytes.name("key"),
            JsonBytes.name("create_revision"),
            JsonBytes.name("mod_revision"),
            JsonBytes.name("version"),
            JsonBytes.name("value"),
            JsonBytes.name("lease")
        };

        private EntryJson() {}

        /** Writes the fields that are set, in the order of their numbers. */
        static void write(JsonBytes out, Entry entry, EntryFields fields) {
            byte[] wire = entry.wire();
            out.open('{');
            int at = 0;
            while (at < wire.length) {
                int tag = wire[at++];
                int field = tag >>> 3;
                long number = 0;
                int shift = 0;
                byte b;
                do {
                    b = wire[at++];
                    number |= (long) (b & 0x7f) << shift;
                    shift += 7;
                } while (b < 0);
                if (field == LEASE && fields == EntryFields.WITHOUT_VALUE_AND_LEASE) {
                    break;
                } else if ((tag & 7) != LENGTH_DELIMITED) {
                    out.member(NAMES[field]).quotedLong(number);
                } else {
                    int length = (int) number;
                    if (fields == EntryFields.ALL || field != VALUE) {
                        out.member(NAMES[field]).base64(wire, at, length);
                    }
                    at += length;
                }
            }
            out.close('}');
        }
    }
}
