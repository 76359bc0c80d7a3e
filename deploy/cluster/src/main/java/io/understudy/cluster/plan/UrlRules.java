package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import java.net.URI;
import java.util.List;
import java.util.Optional;

/** Rules for peer URLs, which etcd accepts unchecked until a vote depends on one. */
public final class UrlRules {

    private UrlRules() {}

    static Optional<Refusal> wellFormed(Step step, ClusterFacts facts) {
        Optional<List<URI>> given = peerUrls(step);
        if (given.isEmpty()) {
            return Optional.empty();
        }
        Optional<String> used = facts.members().stream()
                .flatMap(member -> member.peerUrls().stream())
                .map(URI::getScheme)
                .findFirst();
        if (given.get().isEmpty()) {
            return Optional.of(malformed("no peer URL specified", used.orElse("http")));
        }
        return given.get().stream()
                .flatMap(url -> problem("peer URL", url).stream())
                .findFirst()
                .or(() -> given.get().stream()
                        .filter(url -> used.isPresent() && !used.get().equals(url.getScheme()))
                        .map(url -> "peer URL " + url + " has the scheme " + url.getScheme() + "; the members use "
                                + used.get())
                        .findFirst())
                .map(why -> malformed(why, used.orElse("http")));
    }

    /**
     * Returns why others cannot connect to the URL; empty if they can.
     *
     * @param kind of URL
     */
    public static Optional<String> problem(String kind, URI url) {
        boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
        if (!isHttp) {
            return Optional.of(kind + " " + url + " does not start with http:// or https://");
        }
        if (url.getHost() == null) {
            return Optional.of(kind + " " + url + " has no host");
        }
        if (url.getPort() < 1 || url.getPort() > 65535) {
            return Optional.of(kind + " " + url + " has no valid port");
        }
        if (url.getRawPath() != null && !url.getRawPath().isEmpty()) {
            return Optional.of(kind + " " + url + " has a path, " + url.getRawPath());
        }
        if ("0.0.0.0".equals(url.getHost()) || "[::]".equals(url.getHost())) {
            return Optional.of(kind + " " + url + " is a listen address that others cannot reach");
        }
        return Optional.empty();
    }

    private static Refusal malformed(String why, String scheme) {
        return new Refusal(
                "peer-url-well-formed",
                why,
                "Specify it as " + scheme + "://host:2380, reachable by the other members");
    }

    static Optional<Refusal> notInUse(Step step, ClusterFacts facts) {
        Optional<List<URI>> given = peerUrls(step);
        return facts.members().stream()
                .filter(member -> !step.subject().equals(Optional.of(member.id())))
                .flatMap(member -> member.peerUrls().stream()
                        .filter(url -> given.isPresent() && given.get().contains(url))
                        .map(url -> new Refusal(
                                "peer-url-not-in-use",
                                url + " is the peer URL of member " + member.label(),
                                "Specify another peer URL, or remove that member first (understudy cluster remove "
                                        + member.label() + ")")))
                .findFirst();
    }

    static Optional<Refusal> nameNotInUse(Step step, ClusterFacts facts) {
        if (!(step instanceof Step.AddLearner add)) {
            return Optional.empty();
        }
        return facts.named(add.member().name())
                .map(MemberFacts::id)
                .map(id -> new Refusal(
                        "name-not-in-use",
                        "member " + id + " already has the name " + add.member().name(),
                        "Choose another name, or remove that member first (understudy cluster remove " + id + ")"));
    }

    private static Optional<List<URI>> peerUrls(Step step) {
        if (step instanceof Step.AddLearner add) {
            return Optional.of(add.member().peerUrls());
        }
        return step instanceof Step.UpdatePeerUrls update ? Optional.of(update.peerUrls()) : Optional.empty();
    }
}
