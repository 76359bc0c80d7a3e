package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import java.util.Locale;

/**
 * A key in which source and target differ.
 *
 * @param sourceKey what the source calls it, or would
 * @param targetKey what the target calls it, or would
 */
public record Difference(Kind kind, ByteString sourceKey, ByteString targetKey) {

    /** In what way. */
    public enum Kind {
        /** The source has it, the target doesn't. */
        MISSING,
        /** The target has it, the source doesn't. */
        EXTRA,
        /** The values differ. */
        VALUE,
        /** One side has it with a lease, the other without. */
        LEASE;

        /** As shown. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Such as {@code missing "/registry/a"}; the key as in the target. */
    public String shown() {
        return kind.word() + " \"" + TextFormat.escapeBytes(targetKey) + "\"";
    }
}
