package io.understudy.mirror.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.understudy.etcd.EtcdSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings.Mirror;
import io.understudy.mirror.settings.MirrorSettings.Source;
import io.understudy.mirror.settings.MirrorSettings.Target;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Mirrors that run together between clusters a, b and c. */
final class MirrorCoursesTest {

    @Test
    void twoThatWriteTheSameKeysOfOneTargetAreRefusedByName() {
        assertThatThrownBy(() -> MirrorCourses.requireSound(
                        List.of(mirror("one", "a", "c", "/k/"), mirror("two", "b", "c", "/k/sub/"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("mirrors one and two write overlapping keys to [http://c:2379]");
    }

    @Test
    void theSameKeysUnderAnotherNameAreDisjoint() {
        MirrorScope renamed = new MirrorScope(List.of(bytes("/k/")), List.of(), bytes("/k/"), bytes("/copy/"));
        assertThatCode(() -> MirrorCourses.requireSound(
                        List.of(mirror("one", "a", "c", "/k/"), mirror("two", "b", "c", renamed))))
                .doesNotThrowAnyException();
    }

    @Test
    void oppositeDirectionsAreRefusedWhereKeysMeetOnly() {
        assertThatThrownBy(() -> MirrorCourses.requireSound(
                        List.of(mirror("there", "a", "b", "/k/"), mirror("back", "b", "a", "/k/sub/"))))
                .hasMessageContaining("mirrors form a loop: there, back");
        assertThatCode(() -> MirrorCourses.requireSound(
                        List.of(mirror("there", "a", "b", "/a/"), mirror("back", "b", "a", "/b/"))))
                .doesNotThrowAnyException();
    }

    @Test
    void aMirrorIntoItsOwnSourceIsRefused() {
        assertThatThrownBy(() -> MirrorCourses.requireSound(List.of(mirror("self", "a", "a", "/k/"))))
                .hasMessageContaining("of mirror self are the same cluster: [http://a:2379]");
    }

    @Test
    void aRingIsSoundIfEachHomesKeysHaveMirrorsOfTheirOwn() {
        List<Mirror> ring = List.of(
                mirror("a-ab", "a", "b", "/a/"),
                mirror("a-bc", "b", "c", "/a/"),
                mirror("b-bc", "b", "c", "/b/"),
                mirror("b-ca", "c", "a", "/b/"),
                mirror("c-ca", "c", "a", "/c/"),
                mirror("c-ab", "a", "b", "/c/"));
        assertThatCode(() -> MirrorCourses.requireSound(ring)).doesNotThrowAnyException();
        List<Mirror> joined = List.of(
                mirror("ab", "a", "b", "/a/", "/c/"),
                mirror("bc", "b", "c", "/a/", "/b/"),
                mirror("ca", "c", "a", "/b/", "/c/"));
        assertThatThrownBy(() -> MirrorCourses.requireSound(joined))
                .as("each would wait for the one before")
                .hasMessageContaining("mirrors form a loop: ab, bc, ca");
    }

    @Test
    void aMirrorIsFedByThoseThatBringItsKeysToItsSource() {
        Mirror copied = mirror("bc", "b", "c", "/a/");
        List<Mirror> all = List.of(
                mirror("ab", "a", "b", "/a/"),
                mirror("others", "a", "b", "/x/"),
                mirror("away", "a", "d", "/a/"),
                copied);
        assertThat(MirrorCourses.feeding(copied, all)).containsExactly("ab");
    }

    private static Mirror mirror(String name, String from, String to, String... prefixes) {
        return mirror(
                name,
                from,
                to,
                MirrorScope.of(
                        Arrays.stream(prefixes).map(MirrorCoursesTest::bytes).toList()));
    }

    private static Mirror mirror(String name, String from, String to, MirrorScope scope) {
        return new Mirror(
                name, Source.Etcd.of(cluster(from)), scope, Target.Etcd.of(cluster(to), EtcdSinkOptions.DEFAULTS));
    }

    private static EtcdSettings cluster(String name) {
        return EtcdSettings.of(URI.create("http://" + name + ":2379"));
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
