package io.understudy.mirror.status;

import java.util.List;

/**
 * A table row of a running mirror; unknown values are {@code -}.
 *
 * @param isReady whether the target is known to be the source's state at a revision
 * @param isTakeOverPermitted not if permissions for a take-over are known to be missing
 * @param note why some of them are not needed; empty if all are
 * @param auth remarks on the copy of roles and users; empty where none are copied
 * @param warnings what an operator should know though the mirror works
 */
public record MirrorLine(
        String name,
        String source,
        String target,
        String state,
        String checkpoint,
        String lagRevisions,
        String lagMillis,
        String changesPerSecond,
        String differing,
        String reason,
        boolean isReady,
        boolean isTakeOverPermitted,
        String note,
        List<String> auth,
        List<String> warnings) {

    public MirrorLine {
        auth = List.copyOf(auth);
        warnings = List.copyOf(warnings);
    }
}
