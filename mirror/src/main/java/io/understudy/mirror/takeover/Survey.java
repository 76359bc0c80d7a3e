package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.vocabulary.Counted;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a failback finds.
 *
 * @param needed whether the home is to be moved; else only what comes after it is left to do
 * @param behind how many revisions the old source is behind the new home
 * @param since after what the old source has written keys that the new home never had so, and that will be lost
 * @param keys how many those are
 * @param more whether there are more than that
 * @param first some of them, in words
 * @param unknown why it can't be told which they are, or which besides; null if it can
 */
public record Survey(
        boolean needed,
        long behind,
        String since,
        long keys,
        boolean more,
        List<String> first,
        @Nullable String unknown) {

    static final Survey NOT_NEEDED = new Survey(false, 0, "", 0, false, List.of(), null);

    private static final int SHOWN = 10;
    /** Of each. */
    private static final int SHOWN_CHARACTERS = 200;

    public Survey {
        first = List.copyOf(first);
    }

    static Survey of(
            long behind, String since, long keys, boolean more, List<ByteString> found, @Nullable String unknown) {
        List<String> first = found.stream().limit(SHOWN).map(Survey::shown).toList();
        return new Survey(true, behind, since, keys, more, first, unknown);
    }

    /** A key in words: of one that is very long its beginning, since journals, which have to fit into a request, tell it. */
    static String shown(ByteString key) {
        int bytes = Math.min(key.size(), SHOWN_CHARACTERS);
        while (TextFormat.escapeBytes(key.substring(0, bytes)).length() > SHOWN_CHARACTERS) {
            bytes--;
        }
        String shown = TextFormat.escapeBytes(key.substring(0, bytes));
        return bytes == key.size() ? "\"" + shown + "\"" : "\"" + shown + "…\" of " + key.size() + " bytes";
    }

    /** What the old source has written for itself alone, in words; empty if that is nothing. */
    public Optional<String> lost() {
        String told = (more ? "more than " : "") + Counted.of(keys, "key")
                + " as the old source had them, written or deleted there since "
                + since + ", by clients or by leases that ran out, which the new home never had so, such as "
                + first.stream().collect(Collectors.joining(", "));
        if (unknown != null) {
            return Optional.of(
                    keys == 0
                            ? "what the old source wrote since " + since + ", which is unknown: " + unknown
                            : told + "; and perhaps others, which are unknown: " + unknown);
        }
        if (more && keys == 0) {
            return Optional.of("perhaps some of what the old source wrote since " + since
                    + ", which is more than is compared; what was compared is equal");
        }
        return keys == 0 ? Optional.empty() : Optional.of(told);
    }

    /** The same, with what was not told later. */
    Survey butUnknown(@Nullable String later) {
        return new Survey(needed, behind, since, keys, more, first, later);
    }
}
