package io.understudy.mirror.takeover;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a failback finds.
 *
 * @param needed whether the home is to be moved; else only what comes after it is left to do
 * @param since revision of the old source up to which the new home has its data; 0 where an earlier run has mirrored back
 * @param keys that the old source has written since: the new home never had them, and they will be lost
 * @param first some of them
 * @param commits how many commits, deletes too, the old source has had since
 * @param behind how many revisions the old source is behind the new home
 * @param unknown why it can't be told which keys were written; null if it can
 */
public record Survey(
        boolean needed,
        long since,
        long keys,
        List<String> first,
        long commits,
        long behind,
        @Nullable String unknown) {

    static final Survey NOT_NEEDED = new Survey(false, 0, 0, List.of(), 0, 0, null);

    public Survey {
        first = List.copyOf(first);
    }

    /** What the old source has written for itself alone, in words; empty if that is nothing. */
    public Optional<String> lost() {
        if (unknown != null) {
            return Optional.of("what the old source wrote, which can't be told: " + unknown);
        }
        if (keys == 0) {
            return Optional.empty();
        }
        return Optional.of(keys + " keys as the old source has them, written or deleted there since "
                + (since == 0 ? "it was mirrored back into" : "revision " + since)
                + ", which the new home never had, such as " + String.join(", ", first));
    }
}
