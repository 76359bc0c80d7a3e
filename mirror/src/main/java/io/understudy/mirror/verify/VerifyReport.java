package io.understudy.mirror.verify;

import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;

/**
 * The result of a complete comparison, key by key.
 *
 * @param sourceRevision at which the source was read
 * @param targetRevision at which the target was read, being what the source was at {@code sourceRevision}
 * @param keys on either side, each counted once
 * @param bytes of keys and values of the source, its keys as the target calls them
 * @param sourceDigest of all of the source's keys as the target calls them, values, and whether they have leases if
 *     that is compared; 128 bits in hexadecimal
 * @param targetDigest of the target's
 * @param differing how many keys differ
 * @param differences the first of them, in key order
 */
public record VerifyReport(
        Revision sourceRevision,
        Revision targetRevision,
        long keys,
        long bytes,
        String sourceDigest,
        String targetDigest,
        long differing,
        List<Difference> differences,
        Duration took)
        implements VerifyResult {

    public VerifyReport {
        differences = List.copyOf(differences);
    }

    /** Whether nothing differs. */
    public boolean isEqual() {
        return differing == 0;
    }
}
