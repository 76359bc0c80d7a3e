package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.util.Arrays;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
}
