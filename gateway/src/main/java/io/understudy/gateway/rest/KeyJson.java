package io.understudy.gateway.rest;

import com.google.protobuf.ByteString;
import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.json.JsonBytes;
import io.understudy.gateway.replica.Entry;

/** A key and its value in JSON: text if valid UTF-8, else marked base64. */
final class KeyJson {

    private static final byte[] TYPE = JsonBytes.name("type");
    private static final byte[] KEY = JsonBytes.name("key");
    private static final byte[] KEY_ENCODING = JsonBytes.name("key_encoding");
    private static final byte[] VALUE = JsonBytes.name("value");
    private static final byte[] VALUE_ENCODING = JsonBytes.name("value_encoding");
    private static final byte[] CREATE_REVISION = JsonBytes.name("create_revision");
    private static final byte[] MOD_REVISION = JsonBytes.name("mod_revision");
    private static final byte[] VERSION = JsonBytes.name("version");
    private static final byte[] LEASE = JsonBytes.name("lease");

    private static final byte[] PREVIOUS = JsonBytes.name("previous");

    private KeyJson() {}

    static void write(JsonBytes out, Entry entry) {
        out.open('{');
        members(out, entry);
        out.close('}');
    }

    /** Writes the members of a key alone. */
    static void key(JsonBytes out, ByteString key) {
        bytes(out, KEY, KEY_ENCODING, key);
    }

    /** Writes a change: the key, or what is left of a deleted one. */
    static void write(JsonBytes out, WatchEvent event) {
        out.open('{').member(TYPE).string(event.isDelete() ? "delete" : "put");
        if (event.isDelete()) {
            bytes(out, KEY, KEY_ENCODING, event.entry().key());
            out.member(MOD_REVISION).decimal(event.entry().modRevision());
        } else {
            members(out, event.entry());
        }
        Entry previous = event.previous();
        if (previous != null) {
            write(out.member(PREVIOUS), previous);
        }
        out.close('}');
    }

    private static void members(JsonBytes out, Entry entry) {
        bytes(out, KEY, KEY_ENCODING, entry.key());
        bytes(out, VALUE, VALUE_ENCODING, entry.value());
        out.member(CREATE_REVISION).decimal(entry.createRevision());
        out.member(MOD_REVISION).decimal(entry.modRevision());
        out.member(VERSION).decimal(entry.version());
        if (entry.lease() != 0) {
            // Hexadecimal as in etcdctl; too large for the numbers of many JSON parsers.
            out.member(LEASE).string(Long.toHexString(entry.lease()));
        }
    }

    private static void bytes(JsonBytes out, byte[] name, byte[] encoding, ByteString bytes) {
        if (bytes.isValidUtf8()) {
            out.member(name).string(bytes.toStringUtf8());
            out.member(encoding).string("text");
        } else {
            byte[] array = bytes.toByteArray();
            out.member(name).base64(array, 0, array.length);
            out.member(encoding).string("base64");
        }
    }
}
