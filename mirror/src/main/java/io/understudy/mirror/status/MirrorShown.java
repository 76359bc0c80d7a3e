package io.understudy.mirror.status;

import io.understudy.mirror.auth.AuthReport;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.takeover.Readiness;
import io.understudy.mirror.verify.BackgroundVerification.VerifyStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All displayed data of a mirror.
 *
 * @param verification state of the comparison with the source; null for a target that isn't compared
 * @param compactedRevision up to which of the target's revisions the mirror has compacted it; 0 if it hasn't
 * @param auth state of the copy of roles and users; null for none
 * @param takeOver whether a take-over is permitted; null if that is not known, or no etcd cluster is the source
 * @param warnings what an operator should know though the mirror works
 */
public record MirrorShown(
        MirrorReport report,
        @Nullable VerifyStatus verification,
        long compactedRevision,
        @Nullable AuthReport auth,
        @Nullable Readiness takeOver,
        List<String> warnings) {

    public MirrorShown {
        warnings = List.copyOf(warnings);
    }
}
