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

    /** The kind of a difference. */
    public enum Kind {
        /** The source has it, the target doesn't. */
        MISSING,
        /** The target has it, the source doesn't. */
        EXTRA,
        /** The values differ. */
        VALUE,
        /** Only one side has it with a lease. */
        LEASE;

        /** Returns the displayed name. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Returns the difference, such as {@code missing "/registry/a"}, with the target key. */
    public String shown() {
        return kind.word() + " \"" + TextFormat.escapeBytes(targetKey) + "\"";
    }
}
