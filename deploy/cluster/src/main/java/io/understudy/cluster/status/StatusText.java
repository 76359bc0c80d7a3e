package io.understudy.cluster.status;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** A cluster's status as lines of text. */
public final class StatusText {

    private static final String NOT_KNOWN = "-";
    private static final double MEBIBYTE = 1024.0 * 1024;

    private StatusText() {}

    public static List<String> of(ClusterStatus status) {
        ClusterFacts facts = status.facts();
        List<String> lines = new ArrayList<>();
        lines.add("cluster " + facts.cluster() + ": " + facts.voters().size()
                + (facts.voters().size() == 1 ? " voter, " : " voters, ")
                + facts.healthyVoters().size() + " healthy, " + facts.quorum().needed() + " needed: "
                + status.tolerance());
        if (facts.quorum().isHeld()) {
            lines.add("after another failure: "
                    + (facts.quorum().tolerance() > 0
                            ? "survives " + (facts.quorum().tolerance() - 1)
                            : "no quorum")
                    + "; standbys: "
                    + (status.standbys().isEmpty() ? "none" : String.join(", ", status.standbys())));
        }
        lines.add("");
        lines.addAll(members(facts));
        lines.add("");
        lines.addAll(progress(facts));
        List<String> notes = new ArrayList<>();
        facts.members().forEach(member -> status.reason(member)
                .filter(reason -> member.hasStarted())
                .ifPresent(reason -> notes.add(member.label() + ": " + reason)));
        facts.alarms().forEach(alarm -> notes.add("alarm: " + alarm));
        status.warnings().forEach(warning -> notes.add(warning.rule() + ": " + warning.text()));
        status.supervisors().forEach(view -> notes.add(view.text()));
        if (!notes.isEmpty()) {
            lines.add("");
            lines.addAll(notes);
        }
        return lines;
    }

    private static List<String> members(ClusterFacts facts) {
        TextTable table = new TextTable("MEMBER", "ID", "ROLE", "HEALTH", "DB MIB", "IN USE", "QUOTA");
        Optional<MemberFacts> leader = facts.leader();
        for (MemberFacts member : facts.members()) {
            table.row(
                    name(member),
                    member.id().toString(),
                    leader.equals(Optional.of(member))
                            ? "leader"
                            : member.role().name().toLowerCase(Locale.ROOT),
                    ClusterStatus.health(member),
                    answered(member, answer -> mebibytes(answer.databaseBytes())),
                    answered(member, answer -> mebibytes(answer.databaseBytesInUse())),
                    member.process().quotaBytes().map(StatusText::mebibytes).orElse(NOT_KNOWN));
        }
        return table.lines();
    }

    private static List<String> progress(ClusterFacts facts) {
        TextTable table = new TextTable("MEMBER", "VERSION", "TERM", "RAFT INDEX", "APPLIED", "LAG", "REVISION");
        for (MemberFacts member : facts.members()) {
            table.row(
                    name(member),
                    answered(member, MemberAnswer::version),
                    answered(member, MemberAnswer::raftTerm),
                    answered(member, MemberAnswer::raftIndex),
                    answered(member, MemberAnswer::appliedIndex),
                    facts.lag(member).map(String::valueOf).orElse(NOT_KNOWN),
                    answered(member, answer -> answer.revision().value()));
        }
        return table.lines();
    }

    private static String name(MemberFacts member) {
        return member.hasStarted() ? member.name() : NOT_KNOWN;
    }

    private static String answered(MemberFacts member, Function<MemberAnswer, Object> what) {
        return member.answer().map(what).map(String::valueOf).orElse(NOT_KNOWN);
    }

    private static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f", bytes / MEBIBYTE);
    }
}
