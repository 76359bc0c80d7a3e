package io.understudy.cli;

import io.understudy.mirror.verify.Difference;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.vocabulary.Counted;

/** A comparison in words. */
final class VerifyText {

    private VerifyText() {}

    static String of(String mirror, VerifyResult result) {
        StringBuilder text = new StringBuilder("mirror " + mirror + ": ");
        if (result instanceof VerifyReport report) {
            text.append(report.isEqual() ? "equal" : Counted.of(report.differing(), "key differs", "keys differ"))
                    .append(String.format(
                            "%n%s, %s of the source, source at revision %s, target at revision %s, in %.1f s%n",
                            Counted.of(report.keys(), "key"),
                            Counted.of(report.bytes(), "byte"),
                            report.sourceRevision(),
                            report.targetRevision(),
                            report.took().toMillis() / 1e3))
                    .append(String.format("digest of source %s%n", report.sourceDigest()))
                    .append(String.format("digest of target %s%n", report.targetDigest()));
            for (Difference difference : report.differences()) {
                text.append(String.format("%s%n", difference.shown()));
            }
            long more = report.differing() - report.differences().size();
            if (more > 0) {
                text.append(String.format("and %d more%n", more));
            }
        } else if (result instanceof NotComparable not) {
            text.append(String.format("not comparable, %s: %s%n", not.why().word(), not.reason()));
        }
        return text.toString();
    }
}
