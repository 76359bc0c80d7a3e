package io.understudy.cluster.status;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import java.net.URI;
import java.util.List;
import java.util.Locale;

/** A cluster's status as JSON: IDs in hexadecimal, sizes in bytes, without unknown values. */
public final class StatusJson {

    private static final ObjectMapper JSON = new ObjectMapper();

    private StatusJson() {}

    public static String of(ClusterStatus status) {
        ClusterFacts facts = status.facts();
        ObjectNode page = JSON.createObjectNode();
        page.put("cluster", facts.cluster().toString());
        page.put("healthy", status.isHealthy());
        page.put("asDeclared", status.isAsDeclared());
        page.put("confirmed", facts.isConfirmed());
        page.put("voters", facts.voters().size());
        page.put("healthyVoters", facts.healthyVoters().size());
        page.put("neededVoters", facts.quorum().needed());
        page.put("tolerance", facts.quorum().tolerance());
        page.put("toleranceAfterFailure", facts.quorum().tolerance() - 1);
        strings(page.putArray("standbys"), status.standbys());
        facts.leader().ifPresent(leader -> page.put("leader", leader.id().toString()));
        facts.mostRecent()
                .ifPresent(member -> page.put("mostRecent", member.id().toString()));
        strings(page.putArray("alarms"), facts.alarms());
        ArrayNode warnings = page.putArray("warnings");
        status.warnings()
                .forEach(warning ->
                        warnings.addObject().put("rule", warning.rule()).put("text", warning.text()));
        ArrayNode members = page.putArray("members");
        facts.members().forEach(member -> fill(members.addObject(), status, member));
        ArrayNode supervisors = page.putArray("supervisors");
        status.supervisors().forEach(view -> view.fill(supervisors.addObject()));
        return page.toPrettyString();
    }

    private static void fill(ObjectNode node, ClusterStatus status, MemberFacts member) {
        node.put("id", member.id().toString());
        node.put("name", member.name());
        node.put("role", member.role().name().toLowerCase(Locale.ROOT));
        node.put("health", ClusterStatus.health(member));
        status.reason(member).ifPresent(reason -> node.put("reason", reason));
        urls(node.putArray("peerUrls"), member.peerUrls());
        urls(node.putArray("clientUrls"), member.clientUrls());
        member.answer().ifPresent(answer -> fill(node, answer));
        member.process().quotaBytes().ifPresent(bytes -> node.put("quotaBytes", bytes));
        status.facts().lag(member).ifPresent(lag -> node.put("lag", lag));
    }

    private static void fill(ObjectNode node, MemberAnswer answer) {
        node.put("version", answer.version().toString());
        answer.leader().ifPresent(leader -> node.put("leader", leader.toString()));
        node.put("raftTerm", answer.raftTerm());
        node.put("raftIndex", answer.raftIndex());
        node.put("appliedIndex", answer.appliedIndex());
        node.put("revision", answer.revision().value());
        node.put("databaseBytes", answer.databaseBytes());
        node.put("databaseBytesInUse", answer.databaseBytesInUse());
        node.put("reachesQuorum", answer.reachesQuorum());
        strings(node.putArray("errors"), answer.errors());
    }

    private static void urls(ArrayNode array, List<URI> urls) {
        strings(array, urls.stream().map(URI::toString).toList());
    }

    private static void strings(ArrayNode array, List<String> texts) {
        texts.forEach(array::add);
    }
}
