package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
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
    @ValueSource(strings = {"", "etcd", "3.5", "v3.5.1", "99999999.1.1", "3.6.16abc", "3.6.16-", "3.6.16.1"})
    void anythingElseIsUnknownAndOlderThanEverything(String text) {
        assertThat(EtcdVersion.parse(text)).isEqualTo(EtcdVersion.UNKNOWN);
        assertThat(EtcdVersion.parse(text)).isLessThan(EtcdVersion.parse("0.0.1"));
        assertThat(EtcdVersion.parse(text).watchFault()).isPresent();
    }

    @Test
    void aPreReleaseComesBeforeItsRelease() {
        assertThat(Stream.of("3.7.0", "3.7.0-rc.10", "3.6.16", "3.7.0-rc.2", "3.7.0-alpha.1", "3.7.0-rc")
                        .map(EtcdVersion::parse)
                        .sorted())
                .extracting(EtcdVersion::toString)
                .containsExactly("3.6.16", "3.7.0-alpha.1", "3.7.0-rc", "3.7.0-rc.2", "3.7.0-rc.10", "3.7.0");
        assertThat(EtcdVersion.parse("3.7.0+understudy")).isEqualByComparingTo(EtcdVersion.parse("3.7.0"));
        assertThat(EtcdVersion.parse("3.7.0-rc.0").keysOnlyOmitsLease()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"etcd Version: 3.7.0-rc.0,3.7.0-rc.0", "etcdutl version: 3.5.33,3.5.33", "etcd 3.6.16abc,unknown"})
    void readsWhatProgramsPrint(String text, String version) {
        assertThat(EtcdVersion.in(text + "\nGo Version: go1.24.1")).hasToString(version);
    }

    @ParameterizedTest
    @CsvSource({
        "3.5.7,false",
        "3.5.12,false",
        "3.5.13,true",
        "3.6.0,false",
        "3.6.8,false",
        "3.6.9,true",
        "3.7.0,true",
        "3.4.23,false",
        "3.5.0+understudy,true"
    })
    void watchesOfSomePatchesAreDistrusted(String version, boolean trusted) {
        assertThat(EtcdVersion.parse(version).watchFault().isEmpty()).isEqualTo(trusted);
    }

    @ParameterizedTest
    @CsvSource({
        "3.4.30,1",
        "3.5.13,7",
        "3.5.28,4",
        "3.5.33,0",
        "3.6.8,8",
        "3.6.13,1",
        "3.6.16,0",
        "3.7.0,1",
        "3.7.3,0",
        "3.8.0-alpha.0,1",
        "3.7.0+understudy,0",
        "unknown,0"
    })
    void eachFaultIsNamedUntilThePatchThatCorrectsIt(String version, int faults) {
        assertThat(EtcdVersion.parse(version).warnings()).hasSize(faults);
    }

    @ParameterizedTest
    @CsvSource({"3.5.31,true", "3.5.32,false", "3.6.11,true", "3.6.12,false", "3.7.0,false"})
    void statusRequiresTheRoleRootInOlderPatches(String version, boolean required) {
        assertThat(EtcdVersion.parse(version).statusRequiresRoot()).isEqualTo(required);
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

    @ParameterizedTest
    @CsvSource({
        "3.5.33,3.5.33+understudy",
        "3.7.0-rc.1,3.7.0-rc.1+understudy",
        "3.6.16+understudy,3.6.16+understudy",
        "3.6.5+vendor.1,3.6.5+vendor.1.understudy",
        "3.8.0-alpha.0,3.7.3+understudy",
        "4.0.0+understudy,3.7.3+understudy"
    })
    void aGatewayReportsTheVersionOfItsSourceUpToTheNewestItServes(String source, String reported) {
        EtcdVersion version = EtcdVersion.parse(source).ofGateway();
        assertThat(version).hasToString(reported);
        assertThat(EtcdVersion.parse(reported)).isEqualTo(version);
        assertThat(version.isUnderstudy()).isTrue();
    }
}
