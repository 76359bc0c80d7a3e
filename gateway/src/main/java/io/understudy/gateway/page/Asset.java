package io.understudy.gateway.page;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.zip.GZIPOutputStream;

/** One file of the page. Immutable. */
public final class Asset {

    private static final int TAG_BYTES = 12;

    private final String type;
    private final String tag;
    private final byte[] content;
    private final byte[] packed;

    Asset(String type, byte[] content) {
        this.type = type;
        this.content = content.clone();
        this.packed = gzip(content);
        this.tag = HexFormat.of().formatHex(digest(content), 0, TAG_BYTES);
    }

    /** Media type, with the charset of text. */
    public String type() {
        return type;
    }

    /** Quoted entity tag, derived from the content. */
    public String tag() {
        return '"' + tag + '"';
    }

    /** Quoted entity tag of the gzip content. */
    public String packedTag() {
        return '"' + tag + "-gzip\"";
    }

    /** Returns a copy of the content. */
    public byte[] content() {
        return content.clone();
    }

    /** Returns a copy of the gzip content. */
    public byte[] packed() {
        return packed.clone();
    }

    String text() {
        return new String(content, StandardCharsets.UTF_8);
    }

    private static byte[] gzip(byte[] content) {
        var out = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(out)) {
            gzip.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException("compression failed", e);
        }
        return out.toByteArray();
    }

    private static byte[] digest(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }
}
