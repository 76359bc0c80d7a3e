package io.understudy.gateway.replica;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.Entry.EntryFields;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.io.ByteArrayOutputStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Compares an entry with protobuf's own encoding of the same message. */
final class EntryTest {

    @Provide
    Arbitrary<KeyValue> entries() {
        Arbitrary<Integer> edges = Arbitraries.of(0, 1, 127, 128, 16_383, 16_384);
        Arbitrary<ByteString> bytes = Arbitraries.oneOf(
                        edges, Arbitraries.integers().between(0, 20_000))
                .map(size -> ByteString.copyFrom(new byte[size]));
        Arbitrary<Long> numbers = Arbitraries.longs().greaterOrEqual(0);
        Arbitrary<Long> leases = Arbitraries.longs();
        return Combinators.combine(bytes, bytes, numbers, numbers, numbers, leases)
                .as((key, value, create, mod, version, lease) ->
                        new KeyValue(key, value, new Revision(create), new Revision(mod), version, lease));
    }

    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void isEncodedAsProtobufDoesAndReadBackAsItWas(@ForAll("entries") KeyValue given) {
        Entry entry = Entry.of(given);
        assertThat(entry.wire()).isEqualTo(Keys.message(given).toByteArray());
        assertThat(entry.keyValue()).isEqualTo(given);
        assertThat(entry.bytes()).isEqualTo(given.bytes());
        assertThat(Entry.copyKey(entry.wire())).isEqualTo(given.key().toByteArray());
    }

    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void withoutValueReturnsTheFieldsBeforeAndAfterIt(@ForAll("entries") KeyValue given) {
        Entry entry = Entry.of(given);
        ByteArrayOutputStream parts = new ByteArrayOutputStream();
        parts.write(entry.wire(), 0, entry.valueFieldStart());
        parts.write(entry.wire(), entry.valueFieldEnd(), entry.wireSize() - entry.valueFieldEnd());
        assertThat(parts.toByteArray())
                .isEqualTo(Keys.message(given).toBuilder().clearValue().build().toByteArray())
                .hasSize(entry.wireSize(EntryFields.WITHOUT_VALUE));
        assertThat(entry.wireSize(EntryFields.WITHOUT_VALUE_AND_LEASE))
                .isEqualTo(Keys.message(given).toBuilder()
                        .clearValue()
                        .clearLease()
                        .build()
                        .getSerializedSize());
    }
}
