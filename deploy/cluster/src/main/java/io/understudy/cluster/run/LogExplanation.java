package io.understudy.cluster.run;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Explains from the end of its log why a member does not start. */
public final class LogExplanation {

    /** Messages of etcd's reconfiguration guide, "Error cases when adding members", and of {@code etcdmain}. */
    private static final Map<String, String> MEANINGS = Map.ofEntries(
            Map.entry(
                    "member count is unequal",
                    "its --initial-cluster must list exactly the members of the cluster, including itself"),
            Map.entry(
                    "PeerURLs: no match found for existing member",
                    "its --initial-cluster has a different peer URL for a member than the cluster"),
            Map.entry(
                    "unmatched member while checking PeerURLs",
                    "its --initial-cluster has a different peer URL for this member than the cluster"),
            Map.entry(
                    "has been permanently removed from the cluster",
                    "its data belongs to a removed member; use an empty data directory"),
            Map.entry(
                    "could not retrieve cluster information from the given URLs",
                    "no member is reachable at its listed peer URLs; a member that had data has lost it"),
            Map.entry("address already in use", "another process listens on one of its addresses"),
            Map.entry("cannot assign requested address", "one of its addresses does not belong to this machine"),
            Map.entry("cluster ID mismatch", "its data belongs to another cluster"),
            Map.entry("couldn't find local name", "its --initial-cluster does not contain its name"),
            Map.entry("permission denied", "it has no permission to read or write its data directory"),
            Map.entry("no space left on device", "its disk is full"),
            Map.entry(
                    "flag provided but not defined",
                    "this version of etcd does not have that flag (machines.*.arguments)"),
            Map.entry("no such host", "a host name in its addresses cannot be resolved"));

    /** Last words of a process: a panic, an unknown flag, or a fatal log line. */
    private static final Pattern REASON = Pattern.compile(
            "panic: .*|flag provided but not defined: .*|(fatal )?error: .*|.*\"level\":\"(fatal|panic)\".*");

    /** Usage text and stack traces, which follow the reason. */
    private static final Pattern NOISE = Pattern.compile(
            "\\s+.*|\\s*|Usage:.*|goroutine \\d+ .*|(main|runtime|created by|net|go\\.etcd\\.io|go\\.uber\\.org)[./ ].*\\)?");

    private static final int MOST = 5;
    /** Maximum displayed characters of a log line. */
    private static final int LINE = 300;

    private LogExplanation() {}

    /** Returns why members have exited, by their logs; empty if all run, or if that is not visible here. */
    public static String ofExited(List<MemberSpec> members, Machines machines) {
        return members.stream()
                .filter(member ->
                        machines.isRunning(member).filter(running -> !running).isPresent())
                .map(member -> "; " + member.name() + " has exited" + text(machines.endOfLog(member)))
                .collect(joining());
    }

    /** Returns the reason with its meaning; empty without a log. */
    public static String text(List<String> whole) {
        List<String> lines =
                reason(whole).stream().map(LogExplanation::shortened).toList();
        String explained = of(whole).map(explanation -> "; " + explanation).orElse("");
        return lines.isEmpty() ? "" : explained + "; its log:\n  " + String.join("\n  ", lines);
    }

    private static String shortened(String line) {
        return line.length() <= LINE ? line : line.substring(0, LINE) + " …";
    }

    /** Returns the log of the last start, from its command line or unknown flag. */
    private static List<String> lastStart(List<String> lines) {
        for (int i = lines.size() - 1; i > 0; i--) {
            if (lines.get(i).contains("\"msg\":\"Running: \"")
                    || lines.get(i).startsWith("flag provided but not defined")) {
                return lines.subList(i, lines.size());
            }
        }
        return lines;
    }

    /** Returns the log lines with the reason, else the last ones without noise. */
    static List<String> reason(List<String> whole) {
        List<String> lines = lastStart(whole);
        List<String> reasons = lines.stream()
                .filter(line -> REASON.matcher(line).matches())
                .distinct()
                .toList();
        List<String> shown = reasons.isEmpty()
                ? lines.stream().filter(line -> !NOISE.matcher(line).matches()).toList()
                : reasons;
        return shown.subList(Math.max(0, shown.size() - MOST), shown.size());
    }

    /** Returns the last line with a known meaning; empty if none has one. */
    static Optional<String> of(List<String> whole) {
        List<String> lines = lastStart(whole);
        for (int i = lines.size() - 1; i >= 0; i--) {
            String line = lines.get(i);
            Optional<String> meaning = MEANINGS.entrySet().stream()
                    .filter(each -> line.contains(each.getKey()))
                    .map(each -> "etcd reports \"" + each.getKey() + "\": " + each.getValue())
                    .findFirst();
            if (meaning.isPresent()) {
                return meaning;
            }
        }
        return Optional.empty();
    }
}
