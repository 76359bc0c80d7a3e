package io.understudy.cluster.supervise;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsExchange;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.cluster.supervise.SupervisorState.Event;
import io.understudy.cluster.supervise.elect.Candidacy.PauseNotAcknowledgedException;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.cluster.supervise.rule.Finding;
import io.understudy.health.HealthCheck;
import io.understudy.health.HealthChecks;
import io.understudy.health.HealthPages;
import io.understudy.health.HealthPages.Answer;
import io.understudy.health.PageServer;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.TlsServer;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * Serves the state, metrics, health pages and pauses of a supervisor over HTTP. Paths: {@code GET /state} (JSON, see
 * {@link StatePage}), {@code /metrics} (as text), {@code /livez}, {@code /readyz} and {@code /health} (see {@link
 * HealthPages}); and, from this machine only, {@code POST /pause} and {@code /resume}.
 */
final class StateServer implements AutoCloseable {

    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String JSON = "application/json";
    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int UNAVAILABLE = 503;

    private final @Nullable TlsServer tls;
    private final Supervisor supervisor;
    private final ProcessMetrics metrics;
    private final HealthPages health;
    private final PageServer server;

    /**
     * Listens at once.
     *
     * @param tls null for plain text; closed with this object, or if it can't be made
     * @param stale a supervisor that has not looked for so long is not healthy
     * @throws IOException the address can't be listened at; the message names it
     */
    StateServer(
            InetSocketAddress address,
            @Nullable TlsServer tls,
            Supervisor supervisor,
            ProcessMetrics metrics,
            Duration stale)
            throws IOException {
        this.tls = tls;
        this.supervisor = supervisor;
        this.metrics = metrics;
        this.health = health(supervisor, stale);
        this.server = PageServer.start("supervisor.listen", address, tls, "supervisor-http", this::answer);
    }

    int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
    }

    private Answer answer(HttpExchange exchange) {
        URI uri = exchange.getRequestURI();
        Optional<Answer> page = health.answer(exchange.getRequestMethod(), uri.getPath(), HealthPages.parameters(uri));
        return page.orElseGet(() -> other(exchange));
    }

    private Answer other(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        boolean posts = path.equals("/pause") || path.equals("/resume");
        String wanted = posts ? "POST" : "GET";
        if (!exchange.getRequestMethod().equals(wanted)) {
            return new Answer(METHOD_NOT_ALLOWED, TEXT, path + " allows only " + wanted + "\n");
        }
        return switch (path) {
            case "/state" -> new Answer(OK, JSON, StatePage.json(supervisor.state()));
            case "/metrics" -> {
                ProcessMetrics.Scrape scrape =
                        metrics.scrape(exchange.getRequestHeaders().getFirst("Accept"));
                yield new Answer(OK, scrape.contentType(), scrape.body());
            }
            case "/pause", "/resume" ->
                Operators.include(exchange, tls == null ? ClientCertificates.NONE : tls.clients())
                        ? switched(path)
                        : new Answer(
                                FORBIDDEN,
                                TEXT,
                                path
                                        + " is accepted only from this machine and, if client certificates are required, only"
                                        + " with a valid certificate\n");
            default ->
                new Answer(
                        NOT_FOUND,
                        TEXT,
                        "not found; available: /state, /metrics, /livez, /readyz, /health, POST /pause, POST /resume\n");
        };
    }

    private Answer switched(String path) {
        try {
            if (path.equals("/pause")) {
                supervisor.pause("by an operator at " + Instant.now());
                return new Answer(OK, TEXT, "paused\n");
            }
            supervisor.resume();
            return new Answer(OK, TEXT, "resumed\n");
        } catch (PauseNotAcknowledgedException e) {
            String state = supervisor.state().paused().isPresent() ? "paused: " : "not paused: ";
            return new Answer(UNAVAILABLE, TEXT, state + e.getMessage() + "\n");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Answer(UNAVAILABLE, TEXT, "the supervisor is shutting down\n");
        }
    }

    /** Healthy while the supervisor observes the cluster; the state of cluster and election are remarks. */
    private static HealthPages health(Supervisor supervisor, Duration stale) {
        HealthCheck looks = new HealthCheck("looks", () -> late(supervisor.state(), stale));
        HealthCheck standing = new HealthCheck(
                "standing",
                Optional::empty,
                () -> Optional.of(String.valueOf(supervisor.state().standing())));
        HealthCheck cluster = new HealthCheck(
                "cluster",
                Optional::empty,
                () -> supervisor.state().last().map(Event::decision).map(StateServer::line));
        return new HealthPages(new HealthChecks(looks), new HealthChecks(looks, standing, cluster));
    }

    private static Optional<String> late(SupervisorState state, Duration stale) {
        boolean looks = state.lookedAt()
                .filter(at -> at.plus(stale).isAfter(Instant.now()))
                .isPresent();
        return looks
                ? Optional.empty()
                : Optional.of(state.lookedAt()
                        .map(at -> "has not observed the cluster since " + at)
                        .orElse("has not observed the cluster yet"));
    }

    private static String line(Decision decision) {
        return decision.rule() + ": " + decision.observed() + "; " + decision.action();
    }

    /** The requests that may change the state of a supervisor. */
    static final class Operators {

        private Operators() {}

        /**
         * Whether the request is from this machine and, if client certificates are used, has one.
         *
         * <p>Other users of this machine, and a proxy on it, have this machine's address too.
         */
        static boolean include(HttpExchange exchange, ClientCertificates clients) {
            // A browser adds an Origin to requests that a foreign page makes.
            return exchange.getRemoteAddress().getAddress().isLoopbackAddress()
                    && !exchange.getRequestHeaders().containsKey("Origin")
                    && (clients == ClientCertificates.NONE || showsCertificate(exchange));
        }

        private static boolean showsCertificate(HttpExchange exchange) {
            try {
                return exchange instanceof HttpsExchange secured
                        && secured.getSSLSession().getPeerPrincipal() != null;
            } catch (SSLPeerUnverifiedException e) {
                return false;
            }
        }
    }

    /** A supervisor's state as JSON; times in ISO 8601, durations in ms, unknown values null. */
    static final class StatePage {

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
}
