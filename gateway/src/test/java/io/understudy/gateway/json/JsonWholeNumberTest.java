package io.understudy.gateway.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(10)
final class JsonWholeNumberTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "-0.00, 0",
        "0e99999999999, 0",
        "12, 12",
        "-12.50e1, -125",
        "0.01e2, 1",
        "1200E-2, 12",
        "1e+3, 1000",
        "18446744073709551615, 18446744073709551615"
    })
    void integersAreReadInAnyNotation(String number, String value) {
        assertThat(WholeNumber.of(number)).hasToString(value);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.5",
                "15e-1",
                "1e-1",
                "0.1e-1",
                "1e21",
                "1e400000000",
                "1e-400000000",
                "1.5e-400000000",
                "1e2147483647",
                "1e-2147483648",
                "1e99999999999",
                "123456789012345678901"
            })
    void fractionsAndTooLongNumbersAreRejected(String number) {
        assertThatExceptionOfType(NumberFormatException.class).isThrownBy(() -> WholeNumber.of(number));
    }

    @Test
    void lengthAloneIsNoFault() {
        String zeros = "0".repeat(2_000_000);
        assertThat(WholeNumber.of("7" + zeros + "e-2000000")).hasToString("7");
        assertThat(WholeNumber.of("7." + zeros)).hasToString("7");
        assertThatExceptionOfType(NumberFormatException.class).isThrownBy(() -> WholeNumber.of("7" + zeros));
    }
}
