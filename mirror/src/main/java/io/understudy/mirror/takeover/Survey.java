package io.understudy.mirror.takeover;

import java.util.List;

/**
 * What a failback finds.
 *
 * @param needed whether the home is to be moved; else only what comes after it is left to do
 * @param since revision of the old source up to which the new home has its data
 * @param keys that the old source has written since: the new home never had them, and they will be lost
 * @param first some of them
 * @param commits how many commits, deletes too, the old source has had since
 */
public record Survey(boolean needed, long since, long keys, List<String> first, long commits) {

    public Survey {
        first = List.copyOf(first);
    }
}
