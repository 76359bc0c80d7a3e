package io.understudy.cli;

import io.understudy.mirror.status.MirrorLine;
import io.understudy.mirror.verify.Difference;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import io.understudy.report.TextTable;
import io.understudy.vocabulary.Counted;
import java.util.ArrayList;
import java.util.List;

/** Results of the mirror's commands as text. */
final class MirrorText {

    private MirrorText() {}

    static List<String> status(List<MirrorLine> mirrors) {
        TextTable table = new TextTable("MIRROR", "STATE", "CHECKPOINT", "BEHIND", "LAG MS", "CHANGES/S", "DIFFERING");
        for (MirrorLine mirror : mirrors) {
            table.row(
                    mirror.name(),
                    mirror.state(),
                    mirror.checkpoint(),
                    mirror.lagRevisions(),
                    mirror.lagMillis(),
                    mirror.changesPerSecond(),
                    mirror.differing());
        }
        List<String> lines = new ArrayList<>(table.lines());
        for (MirrorLine mirror : mirrors) {
            lines.add(mirror.name() + " source: " + mirror.source());
            lines.add(mirror.name() + " target: " + mirror.target());
            if (!mirror.reason().isEmpty()) {
                lines.add(mirror.name() + " reason: " + mirror.reason());
            }
            mirror.auth().forEach(line -> lines.add(mirror.name() + " auth: " + line));
            if (!mirror.note().isEmpty()) {
                lines.add(mirror.name() + " take-over: " + mirror.note());
            }
            mirror.warnings().forEach(line -> lines.add(mirror.name() + " warning: " + line));
        }
        return lines;
    }

    static String comparison(String mirror, VerifyResult result) {
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
            text.append(String.format("not comparable, %s: %s%n", not.why().word(), Failures.inWords(not.reason())));
        }
        return text.toString();
    }
}
