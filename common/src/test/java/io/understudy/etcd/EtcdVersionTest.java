package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EtcdVersionTest {

    @ParameterizedTest
    @CsvSource({"3.5.16,3,5,16,''", "3.6.0-rc.2,3,6,0,-rc.2", "3.5.0+understudy,3,5,0,+understudy"})
    void readsWhatServersReport(String text, int major, int minor, int patch, String suffix) {
        assertThat(EtcdVersion.parse(text)).isEqualTo(new EtcdVersion(major, minor, patch, suffix));
        assertThat(EtcdVersion.parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "etcd", "3.5", "v3.5.1", "99999999.1.1"})
    void anythingElseIsUnknownAndOlderThanEverything(String text) {
        assertThat(EtcdVersion.parse(text)).isEqualTo(EtcdVersion.UNKNOWN);
        assertThat(EtcdVersion.parse(text)).isLessThan(EtcdVersion.parse("0.0.1"));
        assertThat(EtcdVersion.parse(text).watchIsReliable()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"3.5.7,false", "3.5.12,false", "3.5.13,true", "3.6.0,true", "3.4.23,false", "3.5.0+understudy,true"})
    void watchesAreReliableFrom3513OnAndInGateways(String version, boolean ordered) {
        assertThat(EtcdVersion.parse(version).watchIsReliable()).isEqualTo(ordered);
    }

    @ParameterizedTest
    @CsvSource({"3.5.10,false", "3.5.11,true", "3.6.0,true", "3.5.30+understudy,false"})
    void learnersConfirmReadIndexesOverHttpFrom3511On(String version, boolean served) {
        assertThat(EtcdVersion.parse(version).learnerReadIndexOverHttp()).isEqualTo(served);
    }

    @ParameterizedTest
    @CsvSource({"3.5.30,false", "3.5.31,true", "3.6.11,false", "3.6.12,true", "3.7.0,true"})
    void updatingALearnerIsSafeInRecentReleasesOfEachLine(String version, boolean safe) {
        assertThat(EtcdVersion.parse(version).memberUpdateKeepsLearner()).isEqualTo(safe);
    }

    @ParameterizedTest
    @CsvSource({
        "3.5.16,3.5.33,at once",
        "3.5.16,3.6.16,3.5.26",
        "3.5.26,3.6.16,at once",
        "3.5.33,3.7.3,3.6.11",
        "3.6.5,3.7.3,3.6.11",
        "3.6.16,3.7.3,at once",
        "3.7.3,3.6.16,at once",
        "unknown,3.7.3,at once"
    })
    void anUpgradeGoesThroughEachMinorVersion(String running, String target, String first) {
        assertThat(EtcdVersion.parse(running)
                        .upgradeThrough(EtcdVersion.parse(target))
                        .map(EtcdVersion::toString)
                        .orElse("at once"))
                .isEqualTo(first);
    }

    @Test
    void moreLearnersThanOneCanBeAllowedFrom36On() {
        assertThat(EtcdVersion.parse("3.5.30").maxLearnersConfigurable()).isFalse();
        assertThat(EtcdVersion.parse("3.6.0").maxLearnersConfigurable()).isTrue();
        assertThat(EtcdVersion.parse("3.6.0").defaultMaxLearners()).isEqualTo(1);
    }

    @Test
    void aGatewayIsRecognisedWhateverItsVersionLooksLike() {
        assertThat(EtcdVersion.parse("understudy 0.1").isUnderstudy()).isTrue();
        assertThat(EtcdVersion.parse("3.5.16").isUnderstudy()).isFalse();
    }
}
