package io.understudy.mirror.scope;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Tests invariant M24. */
final class ReservedKeysTest {

    @Test
    void aCheckpointIsReserved() {
        ByteString key = ReservedKeys.checkpoint("dr");
        assertThat(key.toStringUtf8()).isEqualTo("\0understudy/mirror/dr/checkpoint");
        assertThat(ReservedKeys.contains(key)).isTrue();
    }

    @Test
    void checkpointsAndLanesHaveMarks() {
        assertThat(ReservedKeys.isMark(ReservedKeys.checkpoint("dr"))).isTrue();
        assertThat(ReservedKeys.isMark(ReservedKeys.of("dr", "lane/3"))).isTrue();
        assertThat(ReservedKeys.isMark(ReservedKeys.epoch("dr"))).isFalse();
        assertThat(ReservedKeys.isMark(ReservedKeys.home("dr"))).isFalse();
        assertThat(ReservedKeys.isMark(ByteString.copyFromUtf8("/checkpoint"))).isFalse();
    }

    @Test
    void theWholeKeySpaceHasTwoPartsOutside() {
        assertThat(ReservedKeys.outside(KeyRange.all())).hasSize(2);
    }

    @Test
    void nothingIsOutsideOfTheReservedKeysThemselves() {
        assertThat(ReservedKeys.outside(ReservedKeys.RANGE)).isEmpty();
        assertThat(ReservedKeys.outside(KeyRange.single(ReservedKeys.checkpoint("dr"))))
                .isEmpty();
    }

    @Test
    void anOrdinaryPrefixIsWhollyOutside() {
        KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8("/registry/"));
        assertThat(ReservedKeys.outside(range)).isEqualTo(List.of(range));
    }

    /** A key is in one of the parts exactly if it is in the range and not reserved. */
    @Property(tries = 1_000)
    void partsAreTheRangeWithoutTheReservedKeys(@ForAll byte[] prefix, @ForAll byte[] tail, @ForAll boolean reserved) {
        KeyRange range = KeyRange.prefix(ByteString.copyFrom(prefix));
        ByteString key = reserved
                ? ReservedKeys.checkpoint("x").substring(0, 3 + Math.floorMod(tail.length, 12))
                : ByteString.copyFrom(prefix).concat(ByteString.copyFrom(tail));
        boolean expected = range.contains(key) && !ReservedKeys.contains(key);
        assertThat(ReservedKeys.outside(range).stream().anyMatch(part -> part.contains(key)))
                .isEqualTo(expected);
    }
}
