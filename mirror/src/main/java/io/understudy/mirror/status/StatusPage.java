package io.understudy.mirror.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.understudy.health.HealthCheck;
import io.understudy.health.HealthChecks;
import io.understudy.health.HealthPages;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorReport.SnapshotProgress;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.takeover.Readiness;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Mirrors' reports as JSON and as health. */
final class StatusPage {

    private static final JsonMapper JSON = JsonMapper.builder()
            .addModule(new SimpleModule().addSerializer(Instant.class, ToStringSerializer.instance))
            .build();

    private static final HealthChecks STARTING =
            new HealthChecks(new HealthCheck("process", () -> Optional.of("mirrors are starting")));

    private StatusPage() {}

    /** Returns {@code {"mirrors":[{"name":…,"state":…,…}]}}. Durations are in ms; unknown values are null. */
    static String json(List<MirrorShown> shown) {
        ObjectNode root = JSON.createObjectNode();
        ArrayNode mirrors = root.putArray("mirrors");
        shown.forEach(mirror -> mirrors.add(json(mirror)));
        return root.toPrettyString() + "\n";
    }

    /**
     * Returns a health check per mirror, by name. A mirror is ready if its target equals a state of the source, or if
     * it is a standby. Liveness ignores failed mirrors: a restart would stop the others.
     */
    static HealthPages health(List<MirrorReport> reports) {
        HealthChecks live = checks(reports, report -> true);
        HealthChecks ready = checks(reports, StatusPage::isReady);
        return new HealthPages(live, reports.isEmpty() ? STARTING : ready);
    }

    private static HealthChecks checks(List<MirrorReport> reports, Predicate<MirrorReport> well) {
        return new HealthChecks(
                reports.stream().map(report -> check(report, well.test(report))).toList());
    }

    private static HealthCheck check(MirrorReport report, boolean well) {
        String detail = report.state().word() + ": " + report.reason();
        return new HealthCheck(
                report.mirror(), () -> well ? Optional.empty() : Optional.of(detail), () -> Optional.of(detail));
    }

    private static boolean isReady(MirrorReport report) {
        return report.state() == MirrorState.STANDBY
                || (report.state() == MirrorState.SYNCED && isWhole(report.checkpoint()));
    }

    /** While a commit is written in parts, the target matches no state of the source. */
    private static boolean isWhole(@Nullable Checkpoint checkpoint) {
        return checkpoint != null && checkpoint.state() == CheckpointState.SYNCED;
    }

    private static ObjectNode json(MirrorShown shown) {
        ObjectNode node = json(shown.report());
        node.set("verification", shown.verification() == null ? null : VerifyPage.json(shown.verification()));
        node.put("compactedRevision", shown.compactedRevision());
        node.set("auth", JSON.valueToTree(shown.auth()));
        Readiness takeOver = shown.takeOver();
        if (takeOver == null) {
            node.putNull("takeOver");
        } else {
            node.putObject("takeOver")
                    .put("checkedAt", takeOver.checkedAt().toString())
                    .put("permitted", takeOver.problems().isEmpty())
                    .put("note", takeOver.note());
        }
        ArrayNode warnings = node.putArray("warnings");
        shown.warnings().forEach(warnings::add);
        return node;
    }

    private static ObjectNode json(MirrorReport report) {
        ObjectNode node = JSON.createObjectNode();
        node.put("name", report.mirror());
        node.put("source", report.source());
        node.put("target", report.target());
        node.put("state", report.state().word());
        node.put("ready", isReady(report));
        node.put("reason", report.reason());
        node.put("since", report.since().toString());
        Checkpoint checkpoint = report.checkpoint();
        if (checkpoint == null) {
            node.putNull("checkpoint");
        } else {
            node.putObject("checkpoint")
                    .put("source", checkpoint.source().toString())
                    .put("revision", checkpoint.revision().value())
                    .put("epoch", checkpoint.epoch())
                    .put("writer", checkpoint.writer())
                    .put("state", checkpoint.state().word());
        }
        node.put("completeRevision", report.completeRevision());
        put(node, "lagRevisions", report.lagRevisions());
        put(node, "lagMillis", report.lagMillis());
        node.put("changesPerSecond", Math.round(report.changesPerSecond() * 10) / 10.0);
        node.put("changes", report.changes());
        node.put("transactions", report.transactions());
        node.put("retries", report.retries());
        Instant lastTargetResponse = report.lastTargetResponse();
        node.put("lastTargetResponse", lastTargetResponse == null ? null : lastTargetResponse.toString());
        SnapshotProgress snapshot = report.snapshot();
        if (snapshot == null) {
            node.putNull("snapshot");
        } else {
            ObjectNode progress = node.putObject("snapshot");
            progress.put("keys", snapshot.keys());
            put(progress, "total", snapshot.total());
            progress.put("keysPerSecond", Math.round(snapshot.keysPerSecond()));
            put(progress, "remainingMillis", snapshot.remainingMillis());
        }
        node.put("lastError", report.lastError());
        return node;
    }

    private static void put(ObjectNode node, String field, OptionalLong value) {
        if (value.isPresent()) {
            node.put(field, value.getAsLong());
        } else {
            node.putNull(field);
        }
    }

    /** The copy of roles and users as JSON, and that in words. */
    static final class AuthPage {

        private AuthPage() {}

        /** Returns the contents of a page as lines of text. */
        static List<String> lines(JsonNode auth) {
            List<String> lines = new ArrayList<>();
            if (!auth.isObject()) {
                return lines;
            }
            if (auth.path("comparedAt").isNull()) {
                lines.add("not compared yet by this process");
            } else {
                lines.add("compared at " + auth.path("comparedAt").asText() + "; authentication is "
                        + enabled(auth.path("sourceEnabled")) + " at the source, " + enabled(auth.path("targetEnabled"))
                        + " at the target");
                lines.add("roles copied: " + names(auth.path("roles")));
                lines.add("users copied: " + names(auth.path("users")));
                lines.add("users without a password: " + names(auth.path("withoutPassword")));
                lines.add("not overwritten (owned by the target): roles " + names(auth.path("rolesLeftAlone"))
                        + "; users " + names(auth.path("usersLeftAlone")));
            }
            if (!auth.path("held").isNull()) {
                lines.add("paused: " + auth.path("held").asText());
            }
            if (!auth.path("problem").isNull()) {
                lines.add("failed: " + auth.path("problem").asText());
            }
            return lines;
        }

        private static String enabled(JsonNode flag) {
            return flag.asBoolean() ? "enabled" : "disabled";
        }

        private static String names(JsonNode names) {
            return names.isEmpty()
                    ? "-"
                    : StreamSupport.stream(names.spliterator(), false)
                            .map(JsonNode::asText)
                            .collect(Collectors.joining(", "));
        }
    }
}
