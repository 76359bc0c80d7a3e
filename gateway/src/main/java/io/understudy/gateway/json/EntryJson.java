package io.understudy.gateway.json;

import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.EntryFields;

/** One key and its value, made from the entry's own encoding without decoding it into anything between. */
final class EntryJson {

    private static final int LENGTH_DELIMITED = 2;
    private static final int VALUE = 5;
    /** The last one. */
    private static final int LEASE = 6;

    /** By field number. */
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

    /** The fields are in the order of their numbers, which is that of their declaration, and those not set are not there. */
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
