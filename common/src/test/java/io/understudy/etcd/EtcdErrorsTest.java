package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.io.IOException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.util.Arrays;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests invariant E13. */
final class EtcdErrorsTest {

    private static final String LEARNER = "etcdserver: rpc not supported for learner";

    @ParameterizedTest
    @EnumSource(
            value = Status.Code.class,
            names = {"UNAVAILABLE", "FAILED_PRECONDITION"})
    void aLearnersRefusalIsKnownByItsTextUnderTheCodeOfAnyRelease(Status.Code code) {
        EtcdFailure failure = EtcdErrors.classify(
                Duty.WRITE, code.toStatus().withDescription(LEARNER).asRuntimeException());

        assertThat(failure.error()).isEqualTo(EtcdError.LEARNER_NOT_SUPPORTED);
        assertThat(failure.remedy()).isEqualTo(Remedy.ELSEWHERE);
    }

    @Test
    void aCompactedRevisionIsNobodysFaultButTheAskers() {
        EtcdFailure failure =
                EtcdErrors.classify(Duty.SNAPSHOT, Status.OUT_OF_RANGE.withDescription(EtcdError.COMPACTED.message()));

        assertThat(failure.error()).isEqualTo(EtcdError.COMPACTED);
        assertThat(failure.remedy()).isEqualTo(Remedy.CALLERS_FAULT);
    }

    @Test
    void aRevisionNotReachedYetMayBeHadElsewhere() {
        assertThat(EtcdErrors.classify(
                                Duty.SNAPSHOT, Status.OUT_OF_RANGE.withDescription(EtcdError.FUTURE_REVISION.message()))
                        .remedy())
                .isEqualTo(Remedy.ELSEWHERE);
    }

    @ParameterizedTest
    @EnumSource(
            value = Status.Code.class,
            names = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN"})
    void aBrokenWriteMayHaveHappenedWhileAReadIsSimplyRepeated(Status.Code code) {
        Status status = code.toStatus().withDescription("io exception");

        assertThat(EtcdErrors.classify(Duty.WRITE, status).remedy()).isEqualTo(Remedy.OUTCOME_UNKNOWN);
        for (Duty read : new Duty[] {Duty.SNAPSHOT, Duty.WATCH, Duty.READ_INDEX}) {
            assertThat(EtcdErrors.classify(read, status).remedy()).isEqualTo(Remedy.ELSEWHERE);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = EtcdError.class,
            names = {
                "TIMEOUT",
                "TIMEOUT_LEADER_FAILED",
                "TIMEOUT_CONNECTION_LOST",
                "TIMEOUT_NOT_APPLIED",
                "LEADER_CHANGED",
                "STOPPED"
            })
    void whatAServerCouldNotFinishMayStillBeCommitted(EtcdError error) {
        Status status = Status.UNAVAILABLE.withDescription(error.message());

        assertThat(EtcdErrors.classify(Duty.WRITE, status).remedy()).isEqualTo(Remedy.OUTCOME_UNKNOWN);
        assertThat(EtcdErrors.classify(Duty.WATCH, status).remedy()).isEqualTo(Remedy.ELSEWHERE);
    }

    @Test
    void overloadAndAFullDatabaseMeanLater() {
        assertThat(EtcdErrors.classify(
                                Duty.WRITE, Status.UNKNOWN.withDescription(EtcdError.TOO_MANY_REQUESTS.message()))
                        .remedy())
                .isEqualTo(Remedy.LATER);
        assertThat(EtcdErrors.classify(
                                Duty.WRITE, Status.RESOURCE_EXHAUSTED.withDescription(EtcdError.NO_SPACE.message()))
                        .remedy())
                .isEqualTo(Remedy.LATER);
    }

    @Test
    void aRejectionForLoadIsNoMessageThatIsTooLarge() {
        assertThat(Stream.of(
                                "grpc: trying to send message larger than max (3 vs. 2)",
                                "gRPC message exceeds maximum size 2: 3")
                        .map(Status.RESOURCE_EXHAUSTED::withDescription))
                .allMatch(EtcdErrors::isMessageTooLarge);
        assertThat(Stream.of("etcdserver: too many requests", "understudy: too many watchers; allowed: 1")
                        .map(Status.RESOURCE_EXHAUSTED::withDescription))
                .noneMatch(EtcdErrors::isMessageTooLarge);
    }

    @Test
    void aRequestAboveTheLimitOfGrpcIsNotRepeated() {
        Status status = Status.RESOURCE_EXHAUSTED.withDescription(
                "grpc: received message larger than max (5000161 vs. 2097152)");

        assertThat(EtcdErrors.classify(Duty.WRITE, status).error()).isEqualTo(EtcdError.REQUEST_TOO_LARGE);
        assertThat(EtcdErrors.classify(Duty.WRITE, status).remedy()).isEqualTo(Remedy.CALLERS_FAULT);
    }

    @Test
    void aWriteWithATooLargeResponseMayHaveHappened() {
        for (String text : new String[] {
            "grpc: trying to send message larger than max (3 vs. 2)", "gRPC message exceeds maximum size 2: 3"
        }) {
            Status status = Status.RESOURCE_EXHAUSTED.withDescription(text);

            assertThat(EtcdErrors.classify(Duty.WRITE, status).remedy()).isEqualTo(Remedy.OUTCOME_UNKNOWN);
            assertThat(EtcdErrors.classify(Duty.SNAPSHOT, status).remedy()).isEqualTo(Remedy.LATER);
        }
    }

    @Test
    void aMemberThatDoesNotKnowTheClusterVersionYetIsLeft() {
        Status status = Status.FAILED_PRECONDITION.withDescription("etcdserver: not capable");

        assertThat(EtcdErrors.classify(Duty.WRITE, status).remedy()).isEqualTo(Remedy.ELSEWHERE);
        assertThat(EtcdErrors.classify(Duty.SNAPSHOT, status).remedy()).isEqualTo(Remedy.ELSEWHERE);
    }

    @Test
    void aWatchIsRefusedInTheLongForm() {
        assertThat(EtcdErrors.error("rpc error: code = PermissionDenied desc = etcdserver: permission denied"))
                .isEqualTo(EtcdError.PERMISSION_DENIED);
    }

    @Test
    void causesAreLookedThroughAndTheUnknownIsFatal() {
        Throwable wrapped = new CompletionException(Status.UNAVAILABLE
                .withDescription(EtcdError.NO_LEADER.message())
                .asRuntimeException());

        assertThat(EtcdErrors.classify(Duty.WATCH, wrapped).error()).isEqualTo(EtcdError.NO_LEADER);
        assertThat(EtcdErrors.classify(Duty.WATCH, Status.UNIMPLEMENTED).remedy())
                .isEqualTo(Remedy.FATAL);
        assertThat(EtcdErrors.error("something new")).isEqualTo(EtcdError.OTHER);
    }

    @Test
    void noTwoErrorsShareAText() {
        assertThat(Arrays.stream(EtcdError.values()).map(EtcdError::message)).doesNotHaveDuplicates();
    }

    @Test
    void anUntrustedCertificateIsReportedWithoutInternalsOfNettyAndJava() {
        Status status = Status.UNAVAILABLE
                .withDescription(
                        "io exception\nChannel Pipeline: [SslHandler#0, ProtocolNegotiators$ClientTlsHandler#0]")
                .withCause(new SSLHandshakeException("a.b.ValidatorException: expired")
                        .initCause(new CertificateException(
                                "a.b.ValidatorException: expired",
                                new CertificateExpiredException("NotAfter: Thu Nov 26"))));

        assertThat(EtcdErrors.text(status.asRuntimeException()))
                .isEqualTo("server certificate is not trusted: NotAfter: Thu Nov 26");
        assertThat(EtcdErrors.classify(Duty.WATCH, status))
                .hasToString("UNAVAILABLE: server certificate is not trusted: NotAfter: Thu Nov 26");
    }

    @Test
    void aPlaintextEtcdIsReported() {
        assertThat(EtcdErrors.text(Status.UNAVAILABLE
                        .withDescription("Connection closed while performing TLS negotiation\nChannel Pipeline: [a#0]")
                        .asRuntimeException()))
                .isEqualTo("server does not support TLS or closed the connection during the handshake");
    }

    @Test
    void otherConnectionFailuresAreReportedByTheirCause() {
        assertThat(EtcdErrors.text(Status.UNAVAILABLE
                        .withDescription("io exception")
                        .withCause(new IOException("Connection reset by peer"))
                        .asRuntimeException()))
                .isEqualTo("UNAVAILABLE: Connection reset by peer");
        assertThat(EtcdErrors.text(Status.UNAVAILABLE
                        .withDescription("Unable to resolve host nowhere")
                        .withCause(new UnknownHostException("nowhere: Name or service not known"))
                        .asRuntimeException()))
                .isEqualTo("unknown host nowhere");
    }

    @Test
    void aStatusIsReportedWithItsCode_otherFailuresWithout() {
        assertThat(EtcdErrors.text(Status.UNKNOWN.withDescription("two\n lines").asRuntimeException()))
                .isEqualTo("UNKNOWN: two lines");
        assertThat(EtcdErrors.text(new CompletionException(new IllegalStateException("it is closed"))))
                .isEqualTo("it is closed");
    }
}
