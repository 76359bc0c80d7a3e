package io.understudy.gateway.dashboard;

import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Health;
import io.understudy.etcd.Member;
import io.understudy.etcd.Role;
import io.understudy.gateway.member.StatusReport;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.health.HealthChecks;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The current state as JSON, for {@code /v1/overview}. Not thread-safe.
 *
 * <p>Invariant D1: a lost member, a lost quorum and an unresponsive neighbour appear in the overview within 3 s.
 */
final class Overview {

    /** Fields of another gateway's status. */
    private static final List<String> OF_GATEWAYS = List.of(
            "name",
            "version",
            "ready",
            "problem",
            "revision",
            "keys",
            "bytes",
            "staleness_ms",
            "reads_per_s",
            "watchers");

    private final DashboardSources subject;
    private final Neighbours neighbours;
    private final Rates rates;

    Overview(DashboardSources subject, Neighbours neighbours, Rates rates) {
        this.subject = subject;
        this.neighbours = neighbours;
        this.rates = rates;
    }

    /** @param values of the sample taken just now */
    JsonObject json(Instant now, Map<String, Double> values) {
        ClusterView view = subject.source().get();
        return new JsonObject()
                .put("at", now.toString())
                .put("gateway", gateway(values))
                .put("core", view == null ? null : core(view))
                .put("gateways", neighbours(Neighbour.Kind.GATEWAY, Overview::otherGateway))
                .put("mirrors", MirrorLags.labelled(neighbours(Neighbour.Kind.MIRROR, Overview::mirrors)))
                .put("supervisors", neighbours(Neighbour.Kind.SUPERVISOR, Overview::supervisor));
    }

    private JsonObject gateway(Map<String, Double> values) {
        StatusReport report = subject.report();
        StatusReport.Held held = report.replica().get();
        Duration staleness = held.staleness();
        List<HealthChecks.Outcome> outcomes = report.ready().outcomes();
        JsonArray checks = new JsonArray();
        outcomes.forEach(outcome -> checks.add(withMessage(
                new JsonObject()
                        .put("name", outcome.name())
                        .put("ok", outcome.problem().isEmpty()),
                outcome.problem().or(outcome::remark).orElse(null))));
        return new JsonObject()
                .put("name", report.name())
                .put("version", report.version())
                .put("ready", outcomes.stream().allMatch(outcome -> outcome.problem()
                        .isEmpty()))
                .put(
                        "problem",
                        outcomes.stream()
                                .flatMap(outcome -> outcome.problem().stream().map(why -> outcome.name() + ": " + why))
                                .findFirst()
                                .orElse(null))
                .put("checks", checks)
                .put("source", source(report.source()).put("name", subject.topic()))
                .put("cluster_id", held.clusterId().isEmpty() ? null : held.clusterId())
                .put("revision", held.revision())
                .put("oldest_revision", subject.oldestRevision().getAsLong())
                .put("keys", held.keys())
                .put("bytes", held.bytes())
                .put("staleness_ms", staleness == null ? null : staleness.toMillis())
                .put("lag_revisions", subject.lagRevisions().getAsLong())
                .put("reads_per_s", Sample.rounded(Rates.reads(values)))
                .put("watchers", values.get(Rates.WATCHERS))
                .put("watch_streams", rates.gauge(GatewayMeter.WATCH_STREAMS) + rates.gauge(GatewayMeter.REST_STREAMS))
                .put("connections", rates.gauge(GatewayMeter.CONNECTIONS));
    }

    private static JsonObject source(@Nullable Object kind) {
        return new JsonObject().put("kind", kind);
    }

    private JsonObject core(ClusterView view) {
        List<Member> voters = view.members(Role.VOTER);
        long healthy = voters.stream()
                .filter(member -> member.health() == Health.HEALTHY)
                .count();
        long newest = view.members().stream()
                .mapToLong(member -> member.revision().value())
                .max()
                .orElse(0);
        int quorum = voters.size() / 2 + 1;
        JsonArray members = new JsonArray();
        view.members().forEach(member -> members.add(member(member, view, newest)));
        return new JsonObject()
                .put(
                        "cluster_id",
                        view.clusterId() == null ? null : view.clusterId().toString())
                .put(
                        "quorum",
                        QuorumState.of(
                                        subject.unconfirmed().get(),
                                        voters.stream().map(Member::health).toList())
                                .word())
                .put("voters", voters.size())
                .put("healthy_voters", healthy)
                .put("tolerance", Math.max(0, healthy - quorum))
                .put(
                        "leader",
                        view.leader().map(leader -> leader.id().toString()).orElse(null))
                .put("alarms", alarms(view))
                .put("members", members);
    }

    /** Returns the alarms, each with the name of its member. */
    private static JsonArray alarms(ClusterView view) {
        JsonArray alarms = new JsonArray();
        view.alarms()
                .forEach(alarm -> alarms.add(new JsonObject()
                        .put("kind", alarm.kind())
                        .put(
                                "member",
                                view.member(alarm.member())
                                        .map(Member::name)
                                        .filter(name -> !name.isEmpty())
                                        .orElse(alarm.member().toString()))));
        return alarms;
    }

    private static JsonObject member(Member member, ClusterView view, long newest) {
        boolean reported = member.revision().value() > 0;
        JsonArray endpoints = new JsonArray();
        member.endpoints().stream().map(Endpoint::toString).forEach(endpoints::add);
        return new JsonObject()
                .put("id", member.id().toString())
                .put("name", member.name())
                .put("role", word(member.role()))
                .put("leads", view.leader().filter(member::equals).isPresent())
                .put("health", word(member.health()))
                .put("revision", reported ? member.revision().value() : null)
                .put("lag_revisions", reported ? newest - member.revision().value() : null)
                .put(
                        "version",
                        member.version().equals(EtcdVersion.UNKNOWN)
                                ? null
                                : member.version().toString())
                .put("endpoints", endpoints);
    }

    private JsonArray neighbours(Neighbour.Kind kind, Function<JsonObject, JsonObject> shown) {
        JsonArray all = new JsonArray();
        for (Neighbours.Report report : neighbours.of(kind)) {
            JsonObject status = report.status();
            JsonObject one = status == null ? new JsonObject() : shown.apply(status);
            all.add(withMessage(
                    one.put("url", report.neighbour().url().toString()).put("reachable", report.problem() == null),
                    report.problem()));
        }
        return all;
    }

    /** Adds the message, for one release also under its former name. */
    private static JsonObject withMessage(JsonObject one, @Nullable String message) {
        return one.put("message", message).put("told", message);
    }

    private static JsonObject otherGateway(JsonObject status) {
        JsonObject shown = new JsonObject();
        OF_GATEWAYS.forEach(field -> shown.put(field, status.getValue(field)));
        return shown.put("source", source(status.getValue("source")));
    }

    private static JsonObject mirrors(JsonObject status) {
        JsonArray mirrors = new JsonArray();
        if (status.getValue("mirrors") instanceof JsonArray all) {
            for (Object each : all) {
                if (each instanceof JsonObject mirror) {
                    mirrors.add(mirror.copy()
                            .put("source_kind", kind(mirror, "source"))
                            .put("target_kind", kind(mirror, "target")));
                }
            }
        }
        return new JsonObject().put("mirrors", mirrors);
    }

    /** The first word of a mirror's source or target is its kind. */
    private static @Nullable String kind(JsonObject mirror, String end) {
        return mirror.getValue(end) instanceof String words ? words.split(" ", 2)[0] : null;
    }

    private static JsonObject supervisor(JsonObject state) {
        JsonObject cluster = state.getValue("cluster") instanceof JsonObject known ? known : new JsonObject();
        return new JsonObject()
                .put("name", state.getValue("supervisor"))
                .put("standing", state.getValue("standing"))
                .put("paused", state.getValue("paused"))
                .put("looked_at", state.getValue("lookedAt"))
                .put("pace_ms", state.getValue("pace"))
                .put("quorum", cluster.getValue("quorum"))
                .put("quorum_at", cluster.getValue("at"))
                .put("tolerance", cluster.getValue("tolerance"))
                .put("decision", state.getValue("decision"))
                .put("events", state.getValue("events"));
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** The quorum of the voters as this gateway sees it. */
    enum QuorumState {
        /** It confirms revisions, or a majority of voters is healthy. */
        HELD,
        /** Voters respond, but without a quorum. */
        LOST,
        /** No voter answers: the voters or the network have failed. */
        UNREACHABLE,
        /** Not queried yet. */
        UNKNOWN;

        /**
         * Only a quorum confirms revisions, whatever single members report. With the second until the next sample, a lost
         * quorum is seen within three.
         */
        private static final Duration CONFIRMED = Duration.ofMillis(1_500);

        /**
         * Returns the state by the last confirmation and the health of the voters.
         *
         * @param unconfirmed time since the last confirmed revision
         * @param voters their last known health
         */
        static QuorumState of(Duration unconfirmed, List<Health> voters) {
            if (unconfirmed.compareTo(CONFIRMED) < 0) {
                return HELD;
            }
            if (voters.stream().allMatch(Health.UNKNOWN::equals)) {
                return UNKNOWN;
            }
            if (2 * voters.stream().filter(Health.HEALTHY::equals).count() > voters.size()) {
                return HELD;
            }
            return voters.stream().anyMatch(health -> health == Health.HEALTHY || health == Health.LEADERLESS)
                    ? LOST
                    : UNREACHABLE;
        }

        /** Returns the word of the overview. */
        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
