package io.understudy.gateway.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sorts every input. {@code DifferenceIT} compares the order of equal elements with etcd's.
 *
 * <p>Tests invariant A1.
 */
final class GoSortTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 12, 13, 49, 50, 51, 300, 5_000})
    void sortsEveryPattern(int size) {
        Random random = new Random(size);
        requireSorted(size, i -> i);
        requireSorted(size, i -> -i);
        requireSorted(size, i -> 0);
        requireSorted(size, i -> i % 7);
        requireSorted(size, i -> Math.min(i, size - i));
        requireSorted(size, i -> i == size / 3 ? -1 : i);
        requireSorted(size, i -> random.nextInt());
        requireSorted(size, i -> random.nextInt(4));
        requireSorted(size, i -> i ^ 0x55);
    }

    private static void requireSorted(int size, IntUnaryOperator pattern) {
        int[] items = new int[size];
        Arrays.setAll(items, pattern);
        int[] sorted = items.clone();
        Arrays.sort(sorted);
        GoSort.sort(size, new GoSort.Items() {
            @Override
            public boolean isLess(int one, int other) {
                return items[one] < items[other];
            }

            @Override
            public void swap(int one, int other) {
                int item = items[one];
                items[one] = items[other];
                items[other] = item;
            }
        });
        assertThat(items).isEqualTo(sorted);
    }
}
