package io.understudy.cluster.supervise;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.shape.Limits;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.cluster.supervise.rule.Finding;
import io.understudy.vocabulary.MemberId;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A supervisor's state as JSON; times in ISO 8601, durations in ms, unknown values null. */
final class StatePage {

    private static final JsonMapper JSON = new JsonMapper();

    private StatePage() {}

    static String json(SupervisorState state) {
        ObjectNode root = JSON.createObjectNode();
        root.put("supervisor", state.name());
        root.put("standing", state.standing().toString());
        root.put("paused", state.paused().orElse(null));
        root.put("lookedAt", state.lookedAt().map(Object::toString).orElse(null));
        root.put("pace", state.pace().toMillis());
        shape(root.putObject("shape"), state.shape());
        limits(root.putObject("limits"), state.limits());
        root.putNull("cluster");
        state.facts().ifPresent(facts -> cluster(root.putObject("cluster"), facts, state.findings()));
        root.putNull("decision");
        state.last().ifPresent(event -> event(root.putObject("decision"), event));
        ArrayNode events = root.putArray("events");
        state.events().forEach(event -> event(events.addObject(), event));
        return root.toPrettyString() + "\n";
    }

    private static void shape(ObjectNode node, Shape shape) {
        node.put("voters", shape.voters());
        node.put("standbys", shape.standbys());
        ArrayNode replicas = node.putArray("readReplicas");
        shape.readReplicas().stream().sorted().forEach(replicas::add);
        node.put("readReplicasAreStandbys", shape.readReplicasAreStandbys());
    }

    private static void limits(ObjectNode node, Limits limits) {
        node.put("deadTime", limits.dead().toMillis());
        node.put("maxLag", limits.maxLag());
        node.put("stableTime", limits.stable().toMillis());
        node.put("joinDeadline", limits.joinDeadline().toMillis());
        node.put("holdOff", limits.holdOff().toMillis());
        node.put("changesPerHour", limits.changesPerHour());
    }

    private static void cluster(ObjectNode node, ClusterFacts facts, Map<MemberId, Finding> findings) {
        Quorum quorum = facts.quorum();
        node.put("id", facts.cluster().toString());
        node.put("at", facts.at().toString());
        node.put("confirmed", facts.isConfirmed());
        node.put("voters", quorum.voters());
        node.put("healthy", quorum.healthy());
        node.put("tolerance", quorum.tolerance());
        node.put("quorum", quorum.toString());
        ArrayNode members = node.putArray("members");
        facts.members().forEach(member -> {
            ObjectNode object = members.addObject();
            member(object, facts, member);
            Finding finding = findings.get(member.id());
            if (finding != null) {
                object.put("state", finding.state().label());
                object.put("evidence", finding.evidence());
                object.put("response", finding.state().action().text());
            }
        });
    }

    private static void member(ObjectNode node, ClusterFacts facts, MemberFacts member) {
        node.put("id", member.id().toString());
        node.put("name", member.name());
        node.put("role", member.role().name().toLowerCase(Locale.ROOT));
        node.put("leads", facts.leader().equals(Optional.of(member)));
        node.put("healthy", member.isHealthy());
        node.put("lag", facts.lag(member).orElse(null));
        node.put("raftIndex", member.answer().map(MemberAnswer::raftIndex).orElse(null));
        node.put(
                "version",
                member.answer().map(answer -> answer.version().toString()).orElse(null));
    }

    private static void event(ObjectNode node, Event event) {
        Decision decision = event.decision();
        node.put("at", event.at().toString());
        node.put("rule", decision.rule());
        node.put("observed", decision.observed());
        node.put("action", decision.action());
        // The former name, for one release.
        node.put("told", decision.action());
        node.put("outcome", Journal.spelled(event.outcome()));
        node.put("detail", event.detail());
        if (decision instanceof Decision.Change change) {
            node.put("step", change.step().text());
            node.put("before", change.before().toString());
            node.put("after", change.after().toString());
        }
        if (decision instanceof Decision.QuorumLost lost) {
            ArrayNode guidance = node.putArray("guidance");
            lost.guidance().forEach(guidance::add);
        }
    }
}
