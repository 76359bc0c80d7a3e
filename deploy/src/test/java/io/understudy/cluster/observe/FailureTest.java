package io.understudy.cluster.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.Look.Answers;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdError;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which failures prove that no cluster serves at an endpoint. */
final class FailureTest {

    private static final Endpoint ENDPOINT = Endpoint.of(URI.create("http://127.0.0.1:1"));

    static Stream<Status> silent() {
        return Stream.of(
                Status.DEADLINE_EXCEEDED,
                unavailable(new ConnectException("Connection refused")),
                unavailable(new NoRouteToHostException()),
                unavailable(new UnknownHostException("m1")),
                Status.UNAVAILABLE.withDescription(EtcdError.TIMEOUT.message()),
                // A failed login at a learner, with gRPC's text.
                Status.INTERNAL.withDescription("Inappropriate status code from control plane: FAILED_PRECONDITION "
                        + EtcdError.LEARNER_NOT_SUPPORTED.message()));
    }

    static Stream<Status> rejecting() {
        return Stream.of(
                Status.PERMISSION_DENIED.withDescription(EtcdError.PERMISSION_DENIED.message()),
                Status.INVALID_ARGUMENT.withDescription(EtcdError.USER_EMPTY.message()),
                Status.INTERNAL.withDescription("login failed: " + EtcdError.LOGIN_FAILED.message()),
                unavailable(new SSLHandshakeException("Received fatal alert: certificate_required")),
                // A plaintext request at a TLS port.
                Status.UNAVAILABLE.withDescription("Network closed for unknown reason"));
    }

    @ParameterizedTest
    @MethodSource("silent")
    void anUnreachableEndpointAndOneWithoutAQuorumAreSilent(Status status) {
        assertThatThrownBy(() -> observed(status))
                .isInstanceOfSatisfying(UnobservableException.class, why -> assertThat(why.isSilence())
                        .isTrue());
    }

    @ParameterizedTest
    @MethodSource("rejecting")
    void anEndpointThatRejectsTheCallerIsNotSilent(Status status) {
        assertThatThrownBy(() -> observed(status))
                .isInstanceOfSatisfying(UnobservableException.class, why -> {
                    assertThat(why.isSilence()).isFalse();
                    assertThat(why.isRejection()).isTrue();
                })
                .hasMessageStartingWith("http://127.0.0.1:1 responds and rejects requests: ")
                .hasMessageEndingWith("; correct cluster.user or cluster.tls");
    }

    private static ClusterFactsBuilder observed(Status status) {
        Failure failure = Failure.of(status.asRuntimeException(), Duration.ofSeconds(1));
        return new ClusterFactsBuilder(
                List.of(ENDPOINT),
                new Answers(List.of(), List.of(), Map.of(ENDPOINT, failure), List.of(), Map.of(), Set.of()),
                null);
    }

    private static Status unavailable(Exception cause) {
        return Status.UNAVAILABLE.withDescription("io exception").withCause(cause);
    }
}
