package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.bench.LoadGenerator.Load;
import io.understudy.bench.LoadGenerator.Shot;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Both load generators against a real etcd; h2load where it is there.
 *
 * <p>Tests invariant DP18.
 */
@Timeout(60)
@Tag("speed")
final class LoadGeneratorIT {

    @RegisterExtension
    static final EtcdExtension ETCD = EtcdExtension.voters(1).named("loaded");

    @TempDir
    private static Path folder;

    private static final int REQUESTS = 400;

    @BeforeAll
    static void load() {
        DataSet.load(server(), server());
    }

    static Stream<Arguments> generators() {
        return Stream.of(Optional.<LoadGenerator>of(new OwnClient()), H2Load.find(System.getenv(), folder))
                .flatMap(Optional::stream)
                .flatMap(generator -> Stream.of(Api.values()).map(api -> Arguments.of(generator, api)));
    }

    @ParameterizedTest
    @MethodSource("generators")
    void everyRequestIsAnsweredAndTimed(LoadGenerator generator, Api api) {
        Load load = generator.run(shot(api, answerBytes(api)), REQUESTS, Pace.FULL);

        assertThat(load.tally().requests()).isEqualTo(REQUESTS);
        assertThat(load.latencies().count()).isEqualTo(REQUESTS);
        assertThat(load.latencies().millis(0.5)).isPositive();
    }

    @ParameterizedTest
    @MethodSource("generators")
    void answersOfAnotherLengthThanTheyShouldHaveAreErrors(LoadGenerator generator, Api api) {
        Shot wrong = shot(api, 2 * answerBytes(api));

        assertThatThrownBy(() -> generator.run(wrong, REQUESTS, Pace.FULL))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("of " + REQUESTS + " requests failed");
    }

    @ParameterizedTest
    @MethodSource("generators")
    void aWarmUpLastsAsLongAsItShould(LoadGenerator generator, Api api) {
        Tally tally = generator.warmUp(shot(api, answerBytes(api)), Duration.ofMillis(300));

        assertThat(tally.requests()).isPositive();
        assertThat(tally.elapsed()).isGreaterThanOrEqualTo(Duration.ofMillis(290));
    }

    @ParameterizedTest
    @MethodSource("generators")
    void aPaceIsNotExceeded(LoadGenerator generator, Api api) {
        Load load = generator.run(shot(api, answerBytes(api)), REQUESTS / 4, new Pace(400));

        assertThat(load.tally().perSecond()).isLessThan(500);
    }

    private static Shot shot(Api api, int answerBytes) {
        return new Shot(
                server(),
                Access.OPEN,
                api,
                api.request(DataSet.oneKey(true)),
                answerBytes,
                4,
                api == Api.GRPC ? 16 : 4);
    }

    private static int answerBytes(Api api) {
        try (ServerConnections caller = ServerConnections.open(api, server(), Access.OPEN, 1)) {
            return caller.call(api.request(DataSet.oneKey(true)).toByteArray()).join().length;
        }
    }

    private static URI server() {
        return ETCD.cluster().leader().directClientUrl();
    }
}
